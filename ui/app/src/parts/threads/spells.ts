// SPDX-License-Identifier: Apache-2.0
// One thread's snapshots, put together where nothing changed.
import type { Snapshot } from '../../api/threads.ts';

/** Snapshots in a row with the same state, lock and stack; the newest first. */
export interface Spell {
  snapshots: Snapshot[];
}

const likeness = ({ state, lock, owner, stack }: Snapshot) => JSON.stringify([state, lock, owner, stack]);

/** Returns the spells, newest first. */
export function spells(snapshots: Snapshot[]): Spell[] {
  const ordered = [...snapshots].sort((a, b) => Date.parse(b.time) - Date.parse(a.time));
  const found: Spell[] = [];
  let last = '';
  for (const snapshot of ordered) {
    const now = likeness(snapshot);
    if (found.length > 0 && now === last) found[found.length - 1]!.snapshots.push(snapshot);
    else found.push({ snapshots: [snapshot] });
    last = now;
  }
  return found;
}

/** Returns the cores that the thread used in these snapshots, or null where none has its CPU time. */
export function coresOf({ snapshots }: Spell): number | null {
  const told = snapshots.filter(({ cpu_ns, interval_ms }) => cpu_ns !== null && interval_ms > 0);
  if (told.length === 0) return null;
  const sum = (pick: (snapshot: Snapshot) => number) => told.reduce((total, snapshot) => total + pick(snapshot), 0);
  return sum(({ cpu_ns }) => cpu_ns!) / (sum(({ interval_ms }) => interval_ms) * 1e6);
}
