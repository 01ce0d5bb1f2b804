// SPDX-License-Identifier: Apache-2.0
// The answers about collectors and batches (docs/reference/query-api.md).
import { amount, list, orNull, record, text, time, type Decoded } from './decode.ts';

const drop = record({ cause: text, message: text, fix: text, batches: amount, oldest: orNull(time), newest: orNull(time) });

const collector = record({
  cluster: text,
  node: text,
  instance: text,
  version: text,
  engine: text,
  state: text,
  heartbeat: orNull(time),
  last_success: orNull(time),
  jvms_seen: amount,
  jvms_profiled: amount,
  queue: record({ batches: amount, bytes: amount, max_bytes: amount, oldest: orNull(time) }),
  drops: list(drop),
});

export const collectorsAnswer = record({ collectors: list(collector), meta: record({ nodes_omitted: amount }) });

const outcomes = { accepted: amount, duplicate: amount, rejected: amount, retry: amount };

const refused = record({
  batch: text,
  status: text,
  sender: text,
  node: text,
  code: text,
  message: text,
  batches: amount,
  attempts: amount,
  last_seen: orNull(time),
});

export const ingestionAnswer = record({
  bucket_ms: amount,
  buckets: list(record({ ...outcomes, time })),
  outcomes: record(outcomes),
  refused: list(refused),
  events: record({ seen: text, lost: text, truncated: text, dropped: text }),
  dropped: record({ batches: amount }),
  meta: record({ from: time, to: time }),
});

export const retentionAnswer = record({
  days: amount,
  oldest: time,
  tables: list(record({ table: text, rows: amount, bytes: amount, parts: amount, oldest: orNull(time), ttl_lag_s: amount })),
  rollups: record({ pending_hours: amount, looked: orNull(time), failures: amount, withdrawn: amount }),
});

export type Collector = Decoded<typeof collector>;
export type CollectorsAnswer = Decoded<typeof collectorsAnswer>;
export type RefusedBatch = Decoded<typeof refused>;
export type IngestionAnswer = Decoded<typeof ingestionAnswer>;
export type RetentionAnswer = Decoded<typeof retentionAnswer>;
