// SPDX-License-Identifier: Apache-2.0
import { useNavigate } from 'react-router';
import { useThread, useThreads } from '../../api/queries.ts';
import type { ThreadsAnswer } from '../../api/threads.ts';
import type { ServiceId } from '../../api/types.ts';
import { narrowedOf, threadAddress } from '../../url/address.ts';
import { resolveRange } from '../../url/range.ts';
import type { Address } from '../../url/useAddress.ts';
import { Name } from '../Name.tsx';
import { LaneDrawing } from './LaneDrawing.tsx';
import { barText, laneText, threadBars } from './lanes.ts';
import { plural } from '../words.ts';
import styles from './lanes.module.css';

/** Lanes of single threads that one unfolded pool shows; each is a call of its own. */
const MOST = 12;

export interface ThreadKey {
  jvm: string;
  java_tid: number;
  name: string;
}

/** Returns the threads of a pool that get a lane: first the busy ones, then the slow ones. */
export function telling({ busy, slow }: ThreadsAnswer): ThreadKey[] {
  const found = new Map<string, ThreadKey>();
  for (const { jvm, java_tid, name } of [...busy, ...slow]) {
    const key = `${jvm} ${java_tid}`;
    if (jvm !== '' && !found.has(key)) found.set(key, { jvm, java_tid, name });
  }
  return [...found.values()];
}

interface PoolThreadsProps {
  pool: string;
  threads: number;
  service: ServiceId;
  address: Address;
  onRead: (readout: string) => void;
}

export function PoolThreads({ pool, threads, service, address, onRead }: PoolThreadsProps) {
  const { data, error } = useThreads(service, { ...narrowedOf(address.search), pool }, address.refresh);
  const message = (text: string) => (
    <div role="row" aria-level={2} className={styles['note']}>
      <div role="gridcell">{text}</div>
    </div>
  );
  if (data === undefined)
    return message(
      error === null ? 'Loading the threads of this pool\u2026' : `The threads of this pool could not be loaded: ${error.message}`,
    );
  const found = telling(data);
  const shown = found.slice(0, MOST);
  return (
    <>
      {shown.map((thread) => (
        <ThreadRow key={`${thread.jvm} ${thread.java_tid}`} thread={thread} service={service} address={address} onRead={onRead} />
      ))}
      {message(
        shown.length === 0
          ? `None of the ${plural(threads, 'thread')} was busy or waited for a lock in this time range.`
          : `${shown.length} of ${plural(threads, 'thread')}: the busiest, then those that waited for a lock.`,
      )}
    </>
  );
}

function ThreadRow({ thread, service, address, onRead }: Omit<PoolThreadsProps, 'pool' | 'threads'> & { thread: ThreadKey }) {
  const navigate = useNavigate();
  const { data, error } = useThread(service, thread.jvm, String(thread.java_tid), address.refresh);
  const { from, to } = resolveRange(address.refresh.range, Date.now());
  const bars =
    data === undefined ? [] : threadBars(data.snapshots, Date.parse(data.meta.from ?? '') || from, Date.parse(data.meta.to ?? '') || to);
  const open = () => void navigate(threadAddress(service, address.search, thread));
  return (
    <div
      role="row"
      className={`${styles['row']} ${styles['thread']}`}
      aria-level={2}
      tabIndex={0}
      data-row
      data-testid="thread-lane"
      onKeyDown={(event) => event.key === 'Enter' && open()}
      onClick={open}
    >
      <div role="gridcell" className={styles['head']}>
        <span className={styles['name']}>
          <Name text={thread.name} max={40} />
        </span>
      </div>
      <div
        role="gridcell"
        className={styles['track']}
        onPointerMove={(event) => {
          const { left, width } = event.currentTarget.getBoundingClientRect();
          const at = (event.clientX - left) / width;
          const bar = bars.find((one) => at >= one.from && at < one.to);
          onRead(bar === undefined ? 'no snapshot' : barText(bar));
        }}
        onPointerLeave={() => onRead('')}
      >
        {error === null ? (
          <LaneDrawing bars={bars} full={1} label={laneText(bars)} />
        ) : (
          <span className={styles['faint']}>{error.message}</span>
        )}
      </div>
    </div>
  );
}
