// SPDX-License-Identifier: Apache-2.0
// One profile type over time, as shapes to draw and words to read.
import { formatValue, typeName } from '@hotstack/flamegraph';
import type { TimelineAnswer } from '../../api/timeline.ts';
import { rectangle } from '../timeTrack.ts';
import { coresText } from '../words.ts';

const WIDTH = 1000;
const HEIGHT = 40;
export const VIEW_BOX = `0 0 ${WIDTH} ${HEIGHT}`;

const lengthOf = ({ meta: { from, to } }: TimelineAnswer) => Date.parse(to) - Date.parse(from);

/** Returns how long a bucket lasts, in ms. The last one can be shorter than the others. */
function bucketLength(answer: TimelineAnswer, index: number): number {
  return Math.min(answer.bucket_ms, lengthOf(answer) - index * answer.bucket_ms);
}

/** Returns each bucket's value per second; null where nothing was recorded. */
export function rates(answer: TimelineAnswer): (number | null)[] {
  return answer.values.map((value, index) => (value === null ? null : (value * 1000) / bucketLength(answer, index)));
}

/** Returns `1.2 cores`, `3.4 MiB per second`, `8.1 s of waiting per second`. */
export function rateWords(type: string, unit: string, rate: number): string {
  if (type === 'cpu') return coresText(rate / 1e9);
  return `${formatValue(rate, unit)}${type === 'lock_delay' ? ' of waiting' : ''} per second`;
}

const highest = (found: (number | null)[]) => found.reduce<number>((most, rate) => Math.max(most, rate ?? 0), 0);

/** Returns paths of SVG: a bar for each bucket, and the buckets in which nothing was recorded. */
export function shapes(answer: TimelineAnswer): { bars: string; gaps: string } {
  const found = rates(answer);
  const full = highest(found);
  const length = lengthOf(answer);
  const paths = { bars: '', gaps: '' };
  found.forEach((rate, index) => {
    const x = ((index * answer.bucket_ms) / length) * WIDTH;
    const width = (bucketLength(answer, index) / length) * WIDTH;
    if (rate === null) paths.gaps += rectangle(x, 0, width, HEIGHT);
    else if (rate > 0) paths.bars += rectangle(x, HEIGHT - (rate / full) * HEIGHT, width, (rate / full) * HEIGHT);
  });
  return paths;
}

/** Describes the whole timeline in a sentence. */
export function timelineText(answer: TimelineAnswer): string {
  const found = rates(answer);
  const words = (rate: number) => rateWords(answer.type, answer.unit, rate);
  const gaps = found.filter((rate) => rate === null).length;
  const recordedMs = found.reduce<number>((sum, rate, index) => sum + (rate === null ? 0 : bucketLength(answer, index)), 0);
  const total = answer.values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const average = recordedMs === 0 ? 0 : (total * 1000) / recordedMs;
  const parts = [`${typeName(answer.type)}: ${words(average)} on average`, `${words(highest(found))} at most`];
  if (gaps > 0) parts.push(`nothing recorded in ${gaps} of ${found.length} spans`);
  return parts.join(', ');
}

/** Describes the bucket at a place, which is a share of the width. */
export function bucketText(answer: TimelineAnswer, place: number): string {
  const found = rates(answer);
  const length = lengthOf(answer);
  const rate = found[Math.min(found.length - 1, Math.max(0, Math.floor((place * length) / answer.bucket_ms)))];
  return rate === null || rate === undefined ? 'nothing recorded' : rateWords(answer.type, answer.unit, rate);
}
