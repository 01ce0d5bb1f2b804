// SPDX-License-Identifier: Apache-2.0
// The answer about one type over time (docs/reference/query-api.md).
import { amount, list, orNull, record, text, time, type Decoded } from './decode.ts';

export const timelineAnswer = record({
  bucket_ms: amount,
  /** Sums of the buckets; null where nothing was recorded. */
  values: list(orNull(amount)),
  type: text,
  unit: text,
  meta: record({ from: time, to: time }),
});

export type TimelineAnswer = Decoded<typeof timelineAnswer>;
