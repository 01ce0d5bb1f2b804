// SPDX-License-Identifier: Apache-2.0
// Answers of the query API (docs/reference/query-api.md).

export interface Ledger {
  seen: string;
  truncated: string;
  dropped: string;
  omitted: string;
}

/** How much of the time that was asked for has been recorded. */
export interface Coverage {
  share: number;
  lost_windows: number;
  reason: string | null;
}

/** Batches of the range that never came into the store. */
export interface Loss {
  dropped_batches: number;
  oldest_dropped: string | null;
  rejected_batches: number;
  code: string | null;
}

export interface Meta {
  from: string;
  to: string;
  fresh_until: string | null;
  rows_scanned: number;
  nodes_omitted: number;
  truncated: boolean;
  sampled: boolean;
  missing: string[];
  coverage: Coverage | null;
  lost_events: string;
  loss: Loss;
  ledger: Ledger;
}

export interface TypeTotal {
  raw_total: string;
  value_total: string;
  unit: string;
}

export interface ServiceRow {
  cluster: string;
  namespace: string;
  workload: string;
  targets: number;
  last_seen: string;
  types: Record<string, TypeTotal>;
}

export interface TopRow {
  class: string;
  method: string;
  kind: string;
  self: string;
  total: string;
}

export interface ServicesAnswer {
  services: ServiceRow[];
  meta: Meta;
}

export interface TopAnswer {
  rows: TopRow[];
  total: string;
  unit: string;
  meta: Meta;
}

/** Which service a page is about; no cluster = the only one. */
export interface ServiceId {
  cluster: string | null;
  namespace: string;
  workload: string;
}

/** The selected part of a service; null = all of it. */
export interface Narrowed {
  pod: string | null;
  container: string | null;
  jvm: string | null;
  /** Of the application. */
  version: string | null;
  pool: string | null;
}
