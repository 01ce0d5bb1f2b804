// SPDX-License-Identifier: Apache-2.0
// Answers of a made-up backend about its collectors, batches and tables.
const MINUTE = 60_000;

const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

function collector(node: string, change: Record<string, unknown>): Record<string, unknown> {
  return {
    cluster: 'local',
    node,
    instance: node,
    version: '0.1.0',
    engine: 'async-profiler 4.6',
    state: 'alive',
    heartbeat: ago(12_000),
    sent: ago(12_000),
    started: ago(90 * MINUTE),
    last_success: ago(40_000),
    cut_batches: 90,
    jvms_seen: 14,
    jvms_profiled: 11,
    queue: { batches: 0, bytes: 0, max_bytes: 256 << 20, oldest: null },
    drops: [],
    ...change,
  };
}

export function collectors(): Record<string, unknown> {
  const drop = {
    cause: 'queue_full',
    message: 'The queue on disk was full, and its oldest batches were removed.',
    fix: 'Give queue.max_bytes more room, or find out why the backend took nothing.',
    batches: 3,
    oldest: ago(50 * MINUTE),
    newest: ago(47 * MINUTE),
  };
  const behind = { batches: 4, bytes: 1 << 19, max_bytes: 256 << 20, oldest: ago(5 * MINUTE) };
  return {
    collectors: [collector('node-1', {}), collector('node-2', { state: 'silent', heartbeat: ago(6 * MINUTE), queue: behind, drops: [drop] })],
  };
}

export function ingestion(from: number, to: number): Record<string, unknown> {
  const bucket = Math.ceil((to - from) / 60);
  const buckets = Array.from({ length: 60 }, (_, at) => ({
    time: new Date(from + at * bucket).toISOString(),
    accepted: 2 + (at % 3 === 0 ? 1 : 0),
    duplicate: at === 21 ? 1 : 0,
    rejected: at === 40 ? 1 : 0,
    retry: at > 18 && at < 22 ? 2 : 0,
    rows: 900,
  }));
  const refused = {
    batch: '8f14e45fceea167a5a36dedd4bea2543',
    status: 'rejected',
    sender: 'auth.collector_token',
    cluster: 'local',
    node: 'node-2',
    instance: 'node-2',
    code: 'window_in_future',
    message: 'A window begins 12 minutes after now: the clock of node-2 is fast.',
    batches: 1,
    attempts: 1,
    first_seen: ago(20 * MINUTE),
    last_seen: ago(20 * MINUTE),
    body_bytes: 40_960,
    windows: 9,
    rows: 512,
  };
  return {
    bucket_ms: bucket,
    buckets,
    outcomes: { accepted: 140, duplicate: 1, rejected: 1, retry: 6, rows: 54_000 },
    refused: [refused],
    events: { seen: '1812345', lost: '120', truncated: '4012', dropped: '990' },
    dropped: { batches: 3, by_cause: { queue_full: 3, disk: 0, damaged: 0, rejected: 0 } },
  };
}

const TABLES: [table: string, rows: number, bytes: number, parts: number][] = [
  ['collector_heartbeats', 40_320, 1_310_720, 3],
  ['deadlock_sightings', 0, 0, 0],
  ['ingestion_batches', 20_160, 2_621_440, 4],
  ['profile_rollups', 9_301_220, 41_943_040, 9],
  ['profile_samples', 61_204_511, 241_172_480, 14],
  ['profile_stacks', 812_004, 50_331_648, 8],
  ['thread_snapshots', 44_352_000, 127_926_272, 11],
];

export function retention(change: { lag?: number; rollups?: Record<string, unknown> } = {}): Record<string, unknown> {
  const day = 24 * 60 * MINUTE;
  return {
    days: 7,
    oldest: new Date(Math.floor(Date.now() / day) * day - 6 * day).toISOString(),
    tables: TABLES.map(([table, rows, bytes, parts]) => ({
      table,
      rows,
      bytes,
      parts,
      oldest: rows === 0 ? null : ago(6.4 * day),
      ttl_lag_s: table === 'profile_samples' ? (change.lag ?? 0) : 0,
    })),
    rollups: { pending_hours: 0, looked: ago(21_000), failures: 0, withdrawn: 0, ...change.rollups },
  };
}
