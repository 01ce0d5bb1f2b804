// SPDX-License-Identifier: Apache-2.0
// The answer about JVMs and their profiling (docs/reference/query-api.md).
import { amount, flag, list, or, orNull, record, text, time, type Decoded } from './decode.ts';

const fields = {
  cluster: text,
  namespace: text,
  workload: text,
  pod: text,
  container: text,
  node: text,
  pid: amount,
  jvm_version: text,
  started: text,
  state: text,
  reason: text,
  message: text,
  fix: text,
  detail: or(text, ''),
  last_window: orNull(time),
  observed: or(orNull(time), null),
  /** The pod's own name for its service; may be empty. */
  service: or(text, ''),
  /** Of the application; may be empty. */
  version: or(text, ''),
  /** 16 hex digits; empty where the collector has not told. */
  jvm: or(text, ''),
  /** `off`, `continuous`, `temporary`; empty where it is not known. */
  mode: or(text, ''),
  mode_until: or(orNull(time), null),
  /** `owned`, `adopted`, `orphaned`, `external`, `unknown`; empty without a session. */
  session: or(text, ''),
  /** Share of the last window's time that was recorded, 0 to 1. */
  coverage: or(orNull(amount), null),
  /** The cost of that window, in cores; null where it is not known. */
  overhead: or(orNull(amount), null),
};
const target = record(fields);
/** The state of the JVM from `since` to `observed`, as the collector reported it. */
const spell = record({ ...fields, since: time, observed: time });

export const statusAnswer = record({
  targets: list(target),
  meta: record({ truncated: or(flag, false), nodes_omitted: or(amount, 0) }),
});

/** With `jvm`: the newest first. */
export const historyAnswer = record({ history: list(spell), meta: record({ nodes_omitted: or(amount, 0) }) });

export type Target = Decoded<typeof target>;
export type StatusAnswer = Decoded<typeof statusAnswer>;
export type TargetSpell = Decoded<typeof spell>;
export type HistoryAnswer = Decoded<typeof historyAnswer>;
