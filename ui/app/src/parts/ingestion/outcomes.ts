// SPDX-License-Identifier: Apache-2.0
// Batches by outcome, and the way of events from the JVM into the store.
import type { IngestionAnswer } from '../../api/ingestion.ts';

export const OUTCOMES = [
  ['accepted', 'stored'],
  ['duplicate', 'sent again, stored before'],
  ['retry', 'put off'],
  ['rejected', 'refused for good'],
] as const;

export interface Bar {
  /** Index of the bucket in the range. */
  slot: number;
  time: string;
  counts: Record<(typeof OUTCOMES)[number][0], number>;
  total: number;
}

/** Returns one bar for each bucket that has a batch; `slots` are all buckets of the range. */
export function barsOf({ buckets, bucket_ms, meta }: IngestionAnswer): { bars: Bar[]; slots: number; most: number } {
  const from = Date.parse(meta.from);
  const slots = Math.max(1, Math.ceil((Date.parse(meta.to) - from) / bucket_ms));
  const bars = buckets.map(({ time, ...counts }) => ({
    slot: Math.min(slots - 1, Math.max(0, Math.floor((Date.parse(time) - from) / bucket_ms))),
    time,
    counts,
    total: counts.accepted + counts.duplicate + counts.retry + counts.rejected,
  }));
  return { bars, slots, most: Math.max(1, ...bars.map((bar) => bar.total)) };
}

/** Returns the steps, each with its loss and an explanation. */
export function funnelOf({ events, dropped, outcomes }: IngestionAnswer): [step: string, amount: string, what: string][] {
  return [
    ['Seen', events.seen, 'events that the stored windows counted'],
    ['Lost before', events.lost, 'events that profiler or reader lost before they were counted'],
    ['Truncated', events.truncated, 'events in stacks deeper than the frame limit: counted, under a cut stack'],
    ['Dropped', events.dropped, 'events in the [dropped] stack of a window with too many stacks: counted, without a name'],
    ['Dropped batches', String(dropped.batches), 'batches that collectors lost: none of their events is here'],
    ['Rejected batches', String(outcomes.rejected), 'batches that this backend refused: none of their events is here'],
    ['Omitted', 'by each view', 'what a graph leaves off to stay small is told under it'],
  ];
}
