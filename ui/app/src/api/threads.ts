// SPDX-License-Identifier: Apache-2.0
// Answers about threads, locks and deadlocks (docs/reference/query-api.md).
import { amount, flag, list, or, orNull, record, text, time, type Decoded } from './decode.ts';

const frame = record({ class: text, method: text, file: or(text, ''), line: or(amount, 0), kind: text });
/** Leaf first; empty = no stack was taken. */
const stack = list(frame);
const lock = record({ class: text, id: text, kind: text });
const person = { java_tid: amount, name: text };
const thread = {
  jvm: text,
  pod: text,
  container: or(text, ''),
  ...person,
  os_tid: or(orNull(amount), null),
  pool: text,
  daemon: or(flag, false),
  /** The virtual thread that a carrier runs. */
  carries: orNull(record(person)),
};

const missingSource = record({ source: text, jvm: text, pod: text, reason: text, explanation: text, fix: text });
const sources = record({ jvms: amount, snapshots: amount, threads_cut: amount, stacks_cut: amount, no_cpu: amount, profile: flag, missing: list(missingSource) });
const meta = record({
  from: orNull(time),
  to: orNull(time),
  truncated: or(flag, false),
  fresh_until: orNull(time),
  nodes_omitted: or(amount, 0),
  sampled: or(flag, false),
  missing: or(list(text), []),
});
const about = { sources, meta };

const busyThread = record({
  ...thread,
  cpu_ns: amount,
  interval_ms: amount,
  cores: amount,
  confidence: text,
  snapshots: amount,
  runnable: amount,
  state: text,
  stack,
});

const slowThread = record({
  ...thread,
  kind: text,
  since: time,
  last_seen: time,
  lock: orNull(lock),
  /** The class that the holder probably initialises; null = a lock. */
  awaited_class: orNull(text),
  /** Null = it is not known who initialises the class. */
  holder: orNull(record({ kind: text, java_tid: orNull(amount), name: text, state: text })),
  /** From the holder to the thread that runs. */
  chain: list(text),
  stack,
});

export const threadsAnswer = record({ busy: list(busyThread), slow: list(slowThread), ...about });

const counts = { RUNNABLE: or(amount, 0), BLOCKED: or(amount, 0), WAITING: or(amount, 0), TIMED_WAITING: or(amount, 0) };
/** States and waits are averages over the snapshots; CPU and interval are sums over threads and snapshots. */
const cell = record({ ...counts, cpu_ns: amount, interval_ms: amount, lock_waits: or(amount, 0) });
const lane = record({ pool: text, threads: amount, cells: list(orNull(cell)) });

export const lanesAnswer = record({ bucket_ms: amount, from: time, to: time, lanes: list(lane), ...about });

const snapshot = record({
  time,
  state: text,
  cpu_ns: orNull(amount),
  interval_ms: amount,
  lock: orNull(lock),
  owner: orNull(record({ kind: text, ...person })),
  stack,
});

export const threadAnswer = record({ thread: record(thread), snapshots: list(snapshot), ...about });

const holder = record({ kind: text, ...person, snapshots: amount, stack, held_at: amount });
const waiters = record({ pool: text, threads: amount, names: list(text), stack });
const lockRow = record({
  jvm: text,
  pod: text,
  class: text,
  id: text,
  kind: text,
  waits: amount,
  threads: amount,
  /** Of its class, by the profile. */
  delay_ns: orNull(amount),
  first_seen: time,
  last_seen: time,
  holders: list(holder),
  waiters: list(waiters),
});

export const locksAnswer = record({ locks: list(lockRow), ...about });

const place = {
  id: text,
  /** Probable: the JVM has not found it. */
  inferred: flag,
  cluster: text,
  namespace: text,
  workload: text,
  pod: text,
  container: or(text, ''),
  node: text,
  jvm: text,
  pid: amount,
  first_seen: time,
  last_seen: time,
  ended: orNull(time),
  end_reason: orNull(text),
};
/** A lock is null where a thread waits for a class. */
const part = { ...person, initialises: orNull(text), waits_for: orNull(lock), holds: orNull(lock) };

export const deadlocksAnswer = record({ deadlocks: list(record({ ...place, threads: list(record(part)) })), ...about });

export const deadlockAnswer = record({
  deadlock: record({ ...place, threads: list(record({ ...part, stack, held_at: or(amount, -1), waits_at: or(amount, 0) })) }),
  ...about,
});

export type Frame = Decoded<typeof frame>;
export type Lock = Decoded<typeof lock>;
export type Sources = Decoded<typeof sources>;
export type AnswerMeta = Decoded<typeof meta>;
export type BusyThread = Decoded<typeof busyThread>;
export type SlowThread = Decoded<typeof slowThread>;
export type StateCounts = { RUNNABLE: number; BLOCKED: number; WAITING: number; TIMED_WAITING: number };
export type Cell = Decoded<typeof cell>;
export type Lane = Decoded<typeof lane>;
export type Snapshot = Decoded<typeof snapshot>;
export type LockRow = Decoded<typeof lockRow>;
export type ThreadsAnswer = Decoded<typeof threadsAnswer>;
export type LanesAnswer = Decoded<typeof lanesAnswer>;
export type ThreadAnswer = Decoded<typeof threadAnswer>;
export type LocksAnswer = Decoded<typeof locksAnswer>;
export type DeadlocksAnswer = Decoded<typeof deadlocksAnswer>;
export type DeadlockRow = DeadlocksAnswer['deadlocks'][number];
export type Deadlock = Decoded<typeof deadlockAnswer>['deadlock'];
export type DeadlockAnswer = Decoded<typeof deadlockAnswer>;
