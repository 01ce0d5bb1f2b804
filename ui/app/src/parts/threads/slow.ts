// SPDX-License-Identifier: Apache-2.0
// Groups similar slow threads: of one JVM and pool, waiting for the same thing at the same place.
import type { LockRow, SlowThread } from '../../api/threads.ts';

export interface SlowGroup {
  /** The one that has waited longest. */
  first: SlowThread;
  others: SlowThread[];
}

const likeness = ({ jvm, pool, kind, lock, holder, stack }: SlowThread) => JSON.stringify([jvm, pool, kind, lock, holder?.java_tid, stack]);

/** In the order of the answer. Threads of a deadlock are told one by one. */
export function groupSlow(slow: SlowThread[]): SlowGroup[] {
  const found = new Map<string, SlowGroup>();
  for (const thread of slow) {
    const key = thread.kind === 'deadlocked' ? `${thread.jvm} ${thread.java_tid}` : likeness(thread);
    const group = found.get(key);
    if (group === undefined) found.set(key, { first: thread, others: [] });
    else if (Date.parse(thread.since) < Date.parse(group.first.since)) {
      group.others.push(group.first);
      group.first = thread;
    } else group.others.push(thread);
  }
  return [...found.values()];
}

/** Returns the chain from a thread that waits for the lock now to the thread that runs; empty when no thread waits now. */
export function chainOfLock({ jvm, id, class: cls }: Pick<LockRow, 'jvm' | 'id' | 'class'>, slow: SlowThread[]): string[] {
  const waiter = slow.find(({ jvm: other, lock }) => other === jvm && lock?.id === id && lock.class === cls);
  return waiter === undefined || waiter.chain.length === 0 ? [] : [waiter.name, ...waiter.chain];
}
