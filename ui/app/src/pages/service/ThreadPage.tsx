// SPDX-License-Identifier: Apache-2.0
import { Link, useParams } from 'react-router';
import { useThread } from '../../api/queries.ts';
import type { ThreadAnswer } from '../../api/threads.ts';
import { Answer } from '../../parts/Answer.tsx';
import { useService } from '../../parts/frame/ServiceFrame.tsx';
import { Name } from '../../parts/Name.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { Holder } from '../../parts/threads/Holder.tsx';
import { LaneDrawing, LaneLegend } from '../../parts/threads/LaneDrawing.tsx';
import { laneText, threadBars } from '../../parts/threads/lanes.ts';
import { NothingSeen, SourcesNotice } from '../../parts/threads/SourcesNotice.tsx';
import { coresOf, spells, type Spell } from '../../parts/threads/spells.ts';
import { Stack } from '../../parts/threads/Stack.tsx';
import { State } from '../../parts/threads/State.tsx';
import { coresText, plural } from '../../parts/words.ts';
import { lockName, virtualName } from '../../parts/threads/words.ts';
import { Axis } from '../../parts/TimeTrack.tsx';
import { tabAddress, type Tab } from '../../url/address.ts';
import { formatTime, resolveRange } from '../../url/range.ts';
import styles from '../../parts/threads/threads.module.css';

/** Shows one thread: its lane, and its stacks over time. */
export function ThreadPage() {
  const { jvm = '', tid = '' } = useParams();
  const { service, address } = useService();
  const query = useThread(service, jvm, tid, address.refresh);
  return (
    <>
      <p className={styles['up']}>
        <Link to={tabAddress(service, address.search, 'threads')}>All threads</Link>
      </p>
      <Answer query={query} waitsFor="the backend to read this thread's snapshots">
        {(answer) => {
          const { from, to } = resolveRange(address.refresh.range, Date.now());
          return (
            <Thread
              answer={answer}
              from={answer.meta.from ?? new Date(from).toISOString()}
              to={answer.meta.to ?? new Date(to).toISOString()}
              poolAddress={(tab) => tabAddress(service, address.search, tab, { pool: answer.thread.pool })}
            />
          );
        }}
      </Answer>
    </>
  );
}

interface ThreadProps {
  answer: ThreadAnswer;
  from: string;
  to: string;
  /** The address of a page that shows the thread's pool only. */
  poolAddress: (tab: Tab) => string;
}

function Thread({ answer, from, to, poolAddress }: ThreadProps) {
  const { thread, snapshots, sources } = answer;
  const bars = threadBars(snapshots, Date.parse(from), Date.parse(to));
  return (
    <>
      <h2 className={styles['who']} data-testid="thread-name">
        Thread <Name text={thread.name} max={100} />
      </h2>
      <p className={styles['facts']}>
        <span>
          Pool{' '}
          <Link to={poolAddress('threads')}>
            <Name text={thread.pool} />
          </Link>
        </span>
        <Link to={poolAddress('cpu')}>CPU profile of its pool</Link>
        <span>Java id {thread.java_tid}</span>
        {thread.os_tid !== null && thread.os_tid !== 0 && <span>native id {thread.os_tid}</span>}
        {thread.daemon && <span>daemon</span>}
        {thread.carries !== null && (
          <span>
            carries virtual thread <Name text={virtualName(thread.carries)} max={40} />
          </span>
        )}
        {thread.pod !== '' && (
          <span>
            Pod <Name text={thread.pod} />
          </span>
        )}
      </p>
      <SourcesNotice answer={answer} empty={snapshots.length === 0} />
      {snapshots.length === 0 ? (
        <NothingSeen
          sources={sources}
          title="This thread was not seen"
          nothing="none has this thread. It may have ended, or started later."
        />
      ) : (
        <>
          <Panel title="Over time">
            <LaneLegend full={1} />
            <LaneDrawing bars={bars} full={1} label={laneText(bars)} />
            <Axis from={from} to={to} />
          </Panel>
          <Panel title="Stacks over time" note="Newest first; equal snapshots in a row are one entry" testId="panel-stacks">
            {spells(snapshots).map((spell, index) => (
              <SpellEntry key={spell.snapshots[0]!.time} spell={spell} open={index === 0} />
            ))}
          </Panel>
        </>
      )}
    </>
  );
}

function SpellEntry({ spell, open }: { spell: Spell; open: boolean }) {
  const { snapshots } = spell;
  const newest = snapshots[0]!;
  const oldest = snapshots[snapshots.length - 1]!;
  const cores = coresOf(spell);
  const { lock, owner, state, stack } = newest;
  return (
    <details className={styles['spell']} open={open} data-testid="spell">
      <summary>
        <span className={styles['when']}>
          {formatTime(oldest.time)}
          {snapshots.length > 1 && ` – ${formatTime(newest.time).slice(11)}`}
        </span>{' '}
        <State state={state} /> in {plural(snapshots.length, 'snapshot')}, {cores === null ? 'CPU not told' : coresText(cores)}
        {lock !== null && (
          <>
            , waits for <Name text={lockName(lock)} />
          </>
        )}
        {owner !== null && (
          <>
            {' '}
            held by <Holder holder={owner} max={40} />
          </>
        )}
      </summary>
      <Stack stack={stack} />
    </details>
  );
}
