// SPDX-License-Identifier: Apache-2.0
// Describes the expired rows and the hourly sums of the store in words.
import type { RetentionAnswer } from '../../api/ingestion.ts';
import { formatAgo } from '../../url/range.ts';
import { plural } from '../words.ts';

const HOUR_S = 3600;
/** The store drops expired rows within this time (merge_with_ttl_timeout). */
const PATIENCE_S = 6 * HOUR_S;

/** Returns how long expired rows have been in a table. */
export function formatLag(seconds: number): { words: string; late: boolean } {
  if (seconds === 0) return { words: 'none', late: false };
  const late = seconds > PATIENCE_S;
  const since = seconds < 2 * HOUR_S ? plural(Math.ceil(seconds / 60), 'minute') : plural(Math.floor(seconds / HOUR_S), 'hour');
  return { words: late ? `for ${since}: see whether the store merges` : `for ${since}`, late };
}

export function sumsInWords({ rollups }: RetentionAnswer, now: number): string[] {
  const { looked, pending_hours, failures, withdrawn } = rollups;
  if (looked === null)
    return failures === 0
      ? ['This backend has not checked the hours yet.']
      : [`This backend failed to check the hours ${plural(failures, 'time')}: see its log. Until it succeeds, sums stay as they are and queries read samples beside them.`];
  const sentences = [
    pending_hours === 0
      ? `Every closed hour is summed. This was checked ${formatAgo(looked, now)}.`
      : `${plural(pending_hours, 'hour of a service', 'hours of services')} wait to be summed. This was checked ${formatAgo(looked, now)}. Until then queries read the samples, which is slower and as exact.`,
  ];
  if (failures > 0) sentences.push(`${plural(failures, 'check')} failed since the backend began: see its log.`);
  if (withdrawn > 0) sentences.push(`${plural(withdrawn, 'sum')} did not match the windows and were made anew.`);
  return sentences;
}
