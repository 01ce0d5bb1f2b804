// SPDX-License-Identifier: Apache-2.0
import { visibleText } from '@hotstack/flamegraph';
import type { AnswerMeta, Sources } from '../../api/threads.ts';
import { Notice } from '../Notice.tsx';
import { plural } from '../words.ts';
import { groupMissing, shortfalls } from './words.ts';

type Missing = Sources['missing'][number];

interface SourcesNoticeProps {
  answer: { sources: Sources; meta: AnswerMeta };
  /** Nothing is shown below, so NothingSeen tells the reasons. */
  empty: boolean;
}

/** Shows the gaps of an answer: missing sources with their reason and fix, a budget that was reached, threads left out. */
export function SourcesNotice({ answer: { sources, meta }, empty }: SourcesNoticeProps) {
  const short = shortfalls(sources, meta);
  const missing = empty && sources.snapshots === 0 ? [] : sources.missing;
  if (missing.length === 0 && short.length === 0) return null;
  return (
    <Notice title="This is not the whole picture" tone="warn" testId="shortfalls">
      <ul>
        {short.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
        <MissingItems missing={missing} />
      </ul>
    </Notice>
  );
}

function MissingItems({ missing }: { missing: Missing[] }) {
  return groupMissing(missing).map(({ source, reason, explanation, fix, jvms }, index) => (
    <li key={index}>
      No {visibleText(source)} of {plural(jvms, 'JVM')} (<code>{visibleText(reason)}</code>): {visibleText(explanation)} {visibleText(fix)} The page Targets has the
      details.
    </li>
  ));
}

interface NothingSeenProps {
  sources: Sources;
  title: string;
  /** The sentence for snapshots in which nothing happened. */
  nothing: string;
  /** The page tells the reasons in another place. */
  brief?: boolean;
}

/** Replaces a table without rows; it says either that nothing happened or that nothing was recorded. */
export function NothingSeen({ sources: { snapshots, missing }, title, nothing, brief = false }: NothingSeenProps) {
  if (snapshots > 0) {
    return (
      <Notice title={title} testId="empty">
        {plural(snapshots, 'thread snapshot')} in this time range: {nothing}
      </Notice>
    );
  }
  return (
    <Notice title="No thread snapshots in this time range" tone="warn" testId="no-snapshots">
      Without snapshots nothing can be said here. {brief ? 'The reason stands at the top of this page.' : <NoSnapshots missing={missing} />}
    </Notice>
  );
}

function NoSnapshots({ missing }: { missing: Missing[] }) {
  if (missing.length > 0) {
    return (
      <ul>
        <MissingItems missing={missing} />
      </ul>
    );
  }
  return (
    <>
      Choose a longer range: snapshots are taken every minute in continuous mode. If there are none at all, see on the Targets page what the
      collectors say.
    </>
  );
}
