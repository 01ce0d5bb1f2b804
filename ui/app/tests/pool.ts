// SPDX-License-Identifier: Apache-2.0
// Answers about threads, locks and deadlocks of the made-up shop.

type Json = Record<string, unknown>;

const NOW = Math.floor(Date.now() / 60_000) * 60_000;
export const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();

const JVM = '00000000000012ab';
const POOL = 'http-nio-8080-exec-#';
/** Those with samples. */
export const POOLS = [POOL, 'search-index-writer', 'report-#', 'scheduled-#'];

export const frame = (name: string, line = 0) => {
  const dot = name.lastIndexOf('.');
  const cls = name.slice(0, dot);
  return {
    class: cls,
    method: name.slice(dot + 1),
    file: line > 0 ? `${cls.slice(cls.lastIndexOf('.') + 1)}.java` : '',
    line,
    kind: 'java',
  };
};

const WORK = [
  frame('com.acme.search.Postings.intersect', 88),
  frame('com.acme.search.Index.query', 41),
  frame('com.acme.http.Router.dispatch', 120),
  frame('java.lang.Thread.run', 840),
];
const WAIT = [
  { class: 'libc.so.6', method: '__futex_abstimed_wait', file: '', line: 0, kind: 'native' },
  frame('jdk.internal.misc.Unsafe.park'),
  frame('java.util.concurrent.locks.LockSupport.park', 211),
  frame('java.util.concurrent.locks.ReentrantLock.lock', 322),
  frame('com.acme.db.Pool.borrow', 57),
  frame('com.acme.shop.Orders.save', 101),
  frame('com.acme.shop.CartController.checkout', 34),
  ...Array.from({ length: 14 }, (_, depth) => frame(`com.acme.http.Filter${depth}.doFilter`, 20 + depth)),
  frame('java.lang.Thread.run', 840),
];
const HOLD = [
  frame('java.net.SocketInputStream.socketRead0'),
  frame('com.acme.db.Connection.open', 230),
  frame('com.acme.db.Pool.grow', 71),
  frame('com.acme.db.Pool.borrow', 60),
  frame('java.lang.Thread.run', 840),
];

export const LOCK = { class: 'java.util.concurrent.locks.ReentrantLock$NonfairSync', id: '1b2c3d4e', kind: 'juc' };
const MONITOR = { class: 'com.acme.search.Cache', id: '0a55f00d', kind: 'monitor' };

const thread = (java_tid: number, name: string, pool: string) => ({
  jvm: JVM,
  pod: 'checkout-6d5f7-x2x9k',
  container: 'app',
  java_tid,
  os_tid: java_tid + 4700,
  name,
  pool,
  daemon: true,
  carries: null,
});

const busy = (tid: number, name: string, pool: string, cores: number, confidence: string) => ({
  ...thread(tid, name, pool),
  cpu_ns: String(Math.round(cores * 60e9)),
  interval_ms: '60000',
  cores,
  confidence,
  snapshots: confidence === 'profile_only' ? 0 : 12,
  runnable: confidence === 'profile_only' ? 0 : 11,
  state: 'RUNNABLE',
  stack: WORK,
});

const slow = (tid: number, kind: string, change: Json): Json & { pool: string } => ({
  ...thread(tid, `http-nio-8080-exec-${tid}`, POOL),
  kind,
  since: ago(300),
  last_seen: ago(30),
  lock: LOCK,
  awaited_class: null,
  holder: { kind: 'java', java_tid: 31, name: 'http-nio-8080-exec-1', state: 'RUNNABLE' },
  chain: ['http-nio-8080-exec-1'],
  stack: WAIT,
  ...change,
});

export const SOURCES = { jvms: 1, snapshots: 12, threads_cut: 0, stacks_cut: 0, no_cpu: 0, profile: true, missing: [] };
export const NO_AGENT = {
  jvms: 2,
  snapshots: 0,
  threads_cut: 0,
  stacks_cut: 0,
  no_cpu: 0,
  profile: true,
  missing: ['00000000000012ab', '00000000000012ac'].map((jvm) => ({
    source: 'snapshots',
    jvm,
    pod: 'checkout-6d5f7-x2x9k',
    reason: 'no_thread_agent',
    explanation: 'libhotstackthreads.so is not installed, so there are no thread snapshots.',
    fix: 'Install it beside libasyncProfiler.so.',
    last: ago(30),
  })),
};

export function threads(only: string | null): Json {
  const chosen = ({ pool }: { pool: string }) => only === null || pool === only;
  return {
    busy: [
      busy(34, 'http-nio-8080-exec-4', POOL, 0.83, 'exact_cpu'),
      busy(61, 'search-index-writer', 'search-index-writer', 0.412, 'exact_cpu'),
      busy(35, 'http-nio-8080-exec-5', POOL, 0.31, 'runnable_samples'),
      busy(90, 'report-1', 'report-#', 0.004, 'profile_only'),
    ].filter(chosen),
    slow: [
      ...Array.from({ length: 12 }, (_, index) => slow(46 + index, 'waiting_for_lock', { since: ago(index === 3 ? 600 : 300) })),
      slow(40, 'blocked', { lock: MONITOR, holder: { kind: 'java', java_tid: 61, name: 'search-index-writer', state: 'RUNNABLE' } }),
      slow(44, 'unknown_holder', {
        lock: { class: 'java.util.concurrent.locks.StampedLock', id: '7700aa01', kind: 'juc' },
        holder: { kind: 'unknown', java_tid: null, name: '', state: '' },
        chain: [],
      }),
      slow(45, 'class_initialisation', { lock: null, holder: null, chain: [], stack: [frame('com.acme.Config.<clinit>', 12)] }),
      slow(71, 'deadlocked', { name: 'transfer-1', pool: 'transfer-#', chain: ['transfer-2', 'transfer-1'] }),
    ].filter(chosen),
    sources: SOURCES,
  };
}

const noise = (seed: number) => {
  const value = Math.sin(seed * 12.9898) * 43758.5453;
  return value - Math.floor(value);
};

function cells(load: number, threads: number, waits: boolean, buckets: number, bucketMs: number) {
  return Array.from({ length: buckets }, (_, index) => {
    if (index > buckets * 0.45 && index < buckets * 0.5) return null;
    const jam = waits && index > buckets * 0.7 && index < buckets * 0.85;
    const cores = load * (0.5 + noise(index + threads)) * (jam ? 0.4 : 1);
    const running = Math.min(threads, Math.ceil(cores));
    const blocked = jam ? Math.floor(threads * 0.4) : 0;
    const waiting = Math.floor((threads - running - blocked) * 0.8);
    return {
      cpu_ns: String(Math.round(cores * bucketMs * 1e6)),
      interval_ms: String(Math.round(bucketMs * threads)),
      RUNNABLE: running,
      BLOCKED: blocked,
      WAITING: waiting,
      TIMED_WAITING: threads - running - blocked - waiting,
      lock_waits: blocked,
    };
  });
}

export function lanes(from: number, to: number, buckets: number): Json {
  const bucket = (to - from) / buckets;
  const lane = (pool: string, threads: number, load: number, waits = false) => ({
    pool,
    threads,
    cells: cells(load, threads, waits, buckets, bucket),
  });
  return {
    bucket_ms: bucket,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    lanes: [
      lane('scheduled-#', 4, 0.02),
      lane(POOL, 40, 1.8, true),
      lane('search-index-writer', 1, 0.5),
      lane('report-#', 2, 0.2),
      lane('transfer-#', 2, 0, true),
      lane('ForkJoinPool.commonPool-worker-#', 7, 0.1),
    ],
    sources: SOURCES,
  };
}

export function oneThread(tid: number, from: number, to: number): Json {
  const step = 60_000;
  const count = Math.min(60, Math.floor((to - from) / step));
  const snapshots = Array.from({ length: count }, (_, index) => {
    const stuck = index > count * 0.6 && index < count * 0.8;
    const load = noise(index + tid);
    return {
      time: new Date(from + (index + 1) * step).toISOString(),
      state: stuck ? 'WAITING' : 'RUNNABLE',
      cpu_ns: Math.round((stuck ? 0.001 : load) * step * 1e6),
      interval_ms: step,
      lock: stuck ? LOCK : null,
      owner: stuck ? { kind: 'java', java_tid: 31, name: 'http-nio-8080-exec-1' } : null,
      stack: stuck ? WAIT : WORK,
    };
  });
  return { thread: thread(tid, `http-nio-8080-exec-${tid - 30}`, POOL), snapshots, sources: SOURCES };
}

export function locks(): Json {
  const row = {
    jvm: JVM,
    pod: 'checkout-6d5f7-x2x9k',
    ...LOCK,
    waits: 40,
    threads: 12,
    delay_ns: 8_120_000_000,
    first_seen: ago(300),
    last_seen: ago(30),
    holders: [
      { kind: 'java', java_tid: 31, name: 'http-nio-8080-exec-1', snapshots: 4, stack: HOLD, held_at: 3 },
      { kind: 'java', java_tid: 32, name: 'http-nio-8080-exec-2', snapshots: 1, stack: HOLD, held_at: -1 },
    ],
    waiters: [
      { pool: POOL, threads: 12, names: Array.from({ length: 8 }, (_, index) => `http-nio-8080-exec-${index + 46}`), stack: WAIT },
      { pool: 'report-#', threads: 1, names: ['report-1'], stack: WAIT.slice(0, 5) },
    ],
  };
  const free = {
    ...row,
    ...MONITOR,
    waits: 3,
    threads: 1,
    delay_ns: null,
    holders: [],
    waiters: row.waiters.slice(1),
  };
  return { locks: [row, free], sources: SOURCES };
}

const account = (id: string, kind = 'monitor') => ({ class: kind === 'juc' ? LOCK.class : 'com.acme.bank.Account', id, kind });

function deadlock(id: string, count: number, change: Json): Json {
  const ids = Array.from({ length: count }, (_, index) => (0x11aa0000 + index).toString(16));
  return {
    id: `${JVM}-${id}`,
    inferred: false,
    cluster: 'local',
    namespace: 'shop',
    workload: 'checkout',
    pod: 'checkout-6d5f7-x2x9k',
    container: 'app',
    node: 'node-1',
    jvm: JVM,
    pid: 4711,
    first_seen: ago(720),
    last_seen: ago(30),
    ended: null,
    end_reason: null,
    // Not in the order of waiting, as a JVM may tell them.
    threads: ids
      .map((own, index) => ({
        java_tid: 71 + index,
        name: `transfer-${index + 1}`,
        initialises: null,
        holds: account(own, index % 2 === 1 ? 'juc' : 'monitor'),
        waits_for: account(ids[(index + 1) % count]!, ((index + 1) % count) % 2 === 1 ? 'juc' : 'monitor'),
      }))
      .reverse(),
    ...change,
  };
}

const DEADLOCKS = [
  deadlock('00000000000000aa', 2, {}),
  deadlock('00000000000000bb', 5, { ended: ago(620), end_reason: 'jvm_ended', workload: 'mailer', pod: 'mailer-1', last_seen: ago(620) }),
  deadlock('00000000000000cc', 3, { ended: ago(840), end_reason: 'collector_silent', first_seen: ago(880), last_seen: ago(840) }),
];

export function deadlocks(workload: string | null): Json {
  return { deadlocks: DEADLOCKS.filter((one) => workload === null || one['workload'] === workload), sources: SOURCES };
}

export function oneDeadlock(id: string): Json | null {
  const found = DEADLOCKS.find((one) => one['id'] === id);
  if (found === undefined) return null;
  const threads = (found['threads'] as Json[]).map((part) => ({
    ...part,
    waits_at: 0,
    held_at: 2,
    stack: [
      frame('com.acme.bank.Account.deposit', 40),
      frame('com.acme.bank.Transfer.move', 18),
      frame('com.acme.bank.Transfer.run', 11),
      frame('java.lang.Thread.run', 840),
    ],
  }));
  return { deadlock: { ...found, threads }, sources: SOURCES };
}
