// SPDX-License-Identifier: Apache-2.0
import { Link } from 'react-router';
import type { Deadlock, Lock } from '../../api/threads.ts';
import { threadAddress } from '../../url/address.ts';
import type { Address } from '../../url/useAddress.ts';
import { Name } from '../Name.tsx';
import { Notice } from '../Notice.tsx';
import { awaitedText, cycleOf, heldText, isClosed } from './deadlocks.ts';
import { LockKind } from './LockKind.tsx';
import { Stack } from './Stack.tsx';
import { lockName } from './words.ts';
import styles from './cycle.module.css';

/** Shows the cycle, threads and locks alternately; the line at the side leads from the last lock back to the first thread. */
export function DeadlockCycle({ deadlock, address }: { deadlock: Deadlock; address: Address }) {
  const cycle = cycleOf(deadlock.threads);
  const closed = isClosed(cycle);
  return (
    <>
      {deadlock.inferred && (
        <Notice title="Probable, not certain" tone="warn">
          The JVM does not call this a deadlock. These threads run a static initialiser, are runnable, and used no CPU between two
          snapshots: each probably waits until the next one has initialised its class.
        </Notice>
      )}
      {!closed && (
        <Notice title="The cycle is not complete" tone="warn">
          A lock or thread of it is missing from the snapshot; what is known is shown in order.
        </Notice>
      )}
      <ol className={styles['cycle']} data-testid="cycle" data-closed={closed}>
        {cycle.map((thread, index) => {
          const next = cycle[(index + 1) % cycle.length]!;
          const marks = new Map([[thread.waits_at, `waits for ${shortLock(thread.waits_for) ?? awaitedText(thread, next)}`]]);
          const took = `took ${shortLock(thread.holds) ?? heldText(thread)}`;
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
                  <Name text={heldText(thread)} max={70} />
                </code>
                {thread.held_at < 0 && thread.holds !== null && <span className={styles['faint']}> (not known in which frame it was taken)</span>}
              </p>
              <Stack stack={thread.stack} marks={marks} />
            </li>,
            <li key={`l${index}`} className={styles['lock']} data-testid="cycle-lock">
              <span className={styles['edge']}>{thread.waits_for === null ? 'probably waits for' : 'waits for'}</span>
              <span className={styles['box']}>
                <Name text={awaitedText(thread, next)} max={70} /> {thread.waits_for !== null && <LockKind kind={thread.waits_for.kind} />}
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

/** Returns `Object@1b2c`, which the caller makes safe; null = a class. */
function shortLock(lock: Lock | null): string | null {
  return lock === null ? null : lockName({ class: lock.class.slice(lock.class.lastIndexOf('.') + 1), id: lock.id });
}
