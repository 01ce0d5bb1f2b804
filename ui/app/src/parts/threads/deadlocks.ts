// SPDX-License-Identifier: Apache-2.0
// A deadlock as a cycle, and as text for a ticket.
import { visibleText } from '@hotstack/flamegraph';
import type { Deadlock, DeadlockRow, Lock } from '../../api/threads.ts';
import { formatTime } from '../../url/range.ts';
import { endWord, frameText, lockKind, lockName } from './words.ts';

interface Part {
  java_tid: number;
  waits_for: Lock | null;
  holds: Lock | null;
}

/** Two nulls are the same: the one that waits for a class, and the next that initialises it. */
const sameLock = (a: Lock | null, b: Lock | null) => a?.id === b?.id && a?.class === b?.class;

/** Returns the lock or class that a thread of a cycle waits for; `next` is the thread after it. As recorded, not made safe. */
export function awaitedText({ waits_for }: Pick<Part, 'waits_for'>, next: { initialises: string | null }): string {
  if (waits_for !== null) return lockName(waits_for);
  return next.initialises === null ? 'the initialisation of a class' : `the initialisation of ${next.initialises}`;
}

/** Returns the lock or class that a thread of a cycle holds. As recorded, not made safe. */
export function heldText({ holds, initialises }: { holds: Lock | null; initialises: string | null }): string {
  if (holds !== null) return lockName(holds);
  return initialises === null ? 'a class that it initialises' : `class ${initialises}, which it initialises`;
}

/** Returns `Deadlock`, or `Probable deadlock` where the JVM has not found it. */
export function deadlockWord({ inferred }: Pick<DeadlockRow, 'inferred'>): string {
  return inferred ? 'Probable deadlock' : 'Deadlock';
}

/** Returns the threads in the order of waiting: after each comes the holder of the lock that it waits for. Others come last. */
export function cycleOf<T extends Part>(threads: T[]): T[] {
  const left = [...threads];
  const ordered: T[] = [];
  while (left.length > 0) {
    const last = ordered[ordered.length - 1];
    const next = last === undefined ? 0 : left.findIndex(({ holds }) => sameLock(holds, last.waits_for));
    ordered.push(...left.splice(Math.max(0, next), 1));
  }
  return ordered;
}

/** Returns whether each thread waits for the next one's lock, and the last for the first's. */
export function isClosed(cycle: Part[]): boolean {
  return cycle.length > 1 && cycle.every((part, index) => sameLock(part.waits_for, cycle[(index + 1) % cycle.length]!.holds));
}

/** Says that it lasts, or when and why it is known to have ended. */
export function standing({ ended, end_reason }: Pick<DeadlockRow, 'ended' | 'end_reason'>): string {
  return ended === null ? 'lasts' : `ended ${formatTime(ended)}: ${endWord(end_reason)}`;
}

export function placeText({ cluster, namespace, workload, pod, container, node, pid }: DeadlockRow | Deadlock): string {
  const service = [cluster, namespace, workload].filter((part) => part !== '').join(' / ');
  const parts = [
    service,
    pod === '' ? '' : `pod ${pod}`,
    container === '' ? '' : `container ${container}`,
    node === '' ? '' : `node ${node}`,
    `pid ${pid}`,
  ];
  return visibleText(parts.filter((part) => part !== '').join(', '));
}

/** Returns the whole deadlock as plain text. */
export function deadlockText(deadlock: Deadlock): string {
  const cycle = cycleOf(deadlock.threads);
  const lines = [
    `${deadlockWord(deadlock)} of ${cycle.length} threads`,
    placeText(deadlock),
    `first seen ${formatTime(deadlock.first_seen)}, last seen ${formatTime(deadlock.last_seen)}, ${standing(deadlock)}`,
  ];
  for (const [at, part] of cycle.entries()) {
    const { name, java_tid, waits_for, holds, stack, held_at, waits_at } = part;
    const kind = (lock: Lock | null) => (lock === null ? '' : ` (${lockKind(lock.kind).name})`);
    const awaited = visibleText(awaitedText(part, cycle[(at + 1) % cycle.length]!));
    const held = visibleText(heldText(part));
    lines.push('', `"${visibleText(name)}" tid=${java_tid}`);
    lines.push(`  ${waits_for === null ? 'probably ' : ''}waits for ${awaited}${kind(waits_for)}`);
    lines.push(`  holds ${held}${kind(holds)}`);
    stack.forEach((frame, index) => {
      lines.push(`    at ${frameText(frame)}`);
      if (index === waits_at) lines.push(`      - waits for ${awaited}`);
      if (index === held_at) lines.push(`      - took ${held}`);
    });
  }
  return `${lines.join('\n')}\n`;
}
