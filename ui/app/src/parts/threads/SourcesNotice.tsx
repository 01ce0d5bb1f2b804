// SPDX-License-Identifier: Apache-2.0
import { visibleText } from '@hotstack/flamegraph';
import type { AnswerMeta, Sources } from '../../api/threads.ts';
import { Notice } from '../Notice.tsx';
import { plural, shortfalls } from './words.ts';

type Missing = Sources['missing'][number];

/** What the answer is short of: missing sources with their reason and fix, a budget that was reached, threads left out. */
export function SourcesNotice({ sources, meta }: { sources: Sources; meta: AnswerMeta }) {
  const short = shortfalls(sources, meta);
  if (sources.missing.length === 0 && short.length === 0) return null;
  return (
    <Notice title="This is not the whole picture" tone="warn" testId="shortfalls">
      <ul>
        {short.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
        <MissingItems missing={sources.missing} />
      </ul>
    </Notice>
  );
}

function MissingItems({ missing }: { missing: Missing[] }) {
  return missing.map(({ source, reason, explanation, fix, jvms }, index) => (
    <li key={index}>
      No {visibleText(source)} of {plural(jvms, 'JVM')} (<code>{visibleText(reason)}</code>): {visibleText(explanation)} {visibleText(fix)}
    </li>
  ));
}

/** In place of a table without rows: tells "nothing happened" from "nobody looked". `nothing` is the sentence for the first. */
export function NothingSeen({ sources, title, nothing }: { sources: Sources; title: string; nothing: string }) {
  if (sources.snapshots > 0) {
    return (
      <Notice title={title} testId="empty">
        {plural(sources.snapshots, 'thread snapshot')} in this time range: {nothing}
      </Notice>
    );
  }
  return (
    <Notice title="No thread snapshots in this time range" tone="warn" testId="no-snapshots">
      Without snapshots nothing can be said here.{' '}
      {sources.missing.length === 0
        ? 'Choose a longer range: snapshots are taken every minute in continuous mode. If there are none at all, see the Targets page for what the collectors say.'
        : 'The collectors say why:'}
      {sources.missing.length > 0 && (
        <ul>
          <MissingItems missing={sources.missing} />
        </ul>
      )}
    </Notice>
  );
}
