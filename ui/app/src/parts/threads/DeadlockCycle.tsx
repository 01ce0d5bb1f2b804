// SPDX-License-Identifier: Apache-2.0
import { Link } from 'react-router';
import type { Deadlock, Lock } from '../../api/threads.ts';
import { threadAddress } from '../../url/address.ts';
import type { Address } from '../../url/useAddress.ts';
import { Name } from '../Name.tsx';
import { Notice } from '../Notice.tsx';
import { cycleOf, isClosed } from './deadlocks.ts';
import { LockKind } from './LockKind.tsx';
import { Stack } from './Stack.tsx';
import { lockName } from './words.ts';
import styles from './cycle.module.css';

/** The cycle, threads and locks by turns; the line at the side leads from the last lock back to the first thread. */
export function DeadlockCycle({ deadlock, address }: { deadlock: Deadlock; address: Address }) {
  const cycle = cycleOf(deadlock.threads);
  const closed = isClosed(cycle);
  return (
    <>
      {!closed && (
        <Notice title="The cycle is not complete" tone="warn">
          A lock or thread of it is missing from the snapshot; what is known is shown in order.
        </Notice>
      )}
      <ol className={styles['cycle']} data-testid="cycle" data-closed={closed}>
        {cycle.map((thread, index) => {
          const next = cycle[(index + 1) % cycle.length]!;
          const marks = new Map([[thread.waits_at, `waits for ${shortLock(thread.waits_for)}`]]);
          const took = `took ${shortLock(thread.holds)}`;
          if (thread.held_at >= 0)
            marks.set(thread.held_at, thread.held_at === thread.waits_at ? `${took}, ${marks.get(thread.waits_at)}` : took);
          const last = index === cycle.length - 1;
          return [
            <li key={`t${index}`} className={styles['thread']} data-testid="cycle-thread">
              <h2>
                Thread{' '}
                <Link to={threadAddress(deadlock, address.search, { jvm: deadlock.jvm, java_tid: thread.java_tid })}>
                  <Name text={thread.name} max={80} />
                </Link>
              </h2>
              <p>
                holds{' '}
                <code>
                  <Name text={lockName(thread.holds)} max={70} />
                </code>
                {thread.held_at < 0 && <span className={styles['faint']}> (not known in which frame it was taken)</span>}
              </p>
              <Stack stack={thread.stack} marks={marks} />
            </li>,
            <li key={`l${index}`} className={styles['lock']} data-testid="cycle-lock">
              <span className={styles['edge']}>waits for</span>
              <span className={styles['box']}>
                <Name text={lockName(thread.waits_for)} max={70} /> <LockKind kind={thread.waits_for.kind} />
              </span>
              <span className={styles['edge']}>
                held by <Name text={next.name} max={60} />
                {last && closed && ' (the first thread above)'}
              </span>
            </li>,
          ];
        })}
      </ol>
    </>
  );
}

/** `Object@1b2c`, made safe where it is shown. */
function shortLock({ class: cls, id }: Lock): string {
  return lockName({ class: cls.slice(cls.lastIndexOf('.') + 1), id });
}
