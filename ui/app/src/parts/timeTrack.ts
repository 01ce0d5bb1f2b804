// SPDX-License-Identifier: Apache-2.0
// The arithmetic of drawings over time: shapes, spans, and steps by key.

/** Returns a rectangle as a part of a path. */
export const rectangle = (x: number, y: number, width: number, height: number) =>
  `M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`;

export interface Span {
  from: number;
  to: number;
}

/** A time range, divided into buckets. */
export interface TimeBuckets {
  from: string;
  to: string;
  bucket_ms: number;
}

/** Returns the time in ms at a place, which is a share of the range. */
export function timeAt({ from, to }: TimeBuckets, place: number): number {
  const start = Date.parse(from);
  return start + place * (Date.parse(to) - start);
}

/** The length of a profile window, and the time from a snapshot to the next. */
const SHORTEST_MS = 60_000;

/**
 * Returns the brush's span in whole buckets, from two places of the lane in any order. It lasts a minute at least, so that a
 * window or a snapshot begins in it, and the answers about the span are not empty.
 */
export function brushSpan(buckets: TimeBuckets, a: number, b: number): Span {
  const start = timeAt(buckets, 0);
  const end = timeAt(buckets, 1);
  const bucket = Math.max(1, buckets.bucket_ms);
  const at = (place: number) => timeAt(buckets, Math.min(1, Math.max(0, place)));
  const low = start + Math.floor((at(Math.min(a, b)) - start) / bucket) * bucket;
  const high = start + Math.ceil((at(Math.max(a, b)) - start) / bucket) * bucket;
  const last = Math.min(end, Math.max(high, low + bucket));
  return { from: Math.min(low, last - SHORTEST_MS), to: last };
}

/** Returns the place that a key leads to, in the middle of a bucket; null for another key. `now` null: nothing is pointed at yet. */
export function placeByKey(key: string, now: number | null, buckets: TimeBuckets): number | null {
  const count = Math.max(1, Math.ceil((timeAt(buckets, 1) - timeAt(buckets, 0)) / Math.max(1, buckets.bucket_ms)));
  const index = now === null ? null : Math.floor(now * count);
  const wanted = { ArrowRight: index === null ? 0 : index + 1, ArrowLeft: index === null ? count - 1 : index - 1, Home: 0, End: count - 1 }[key];
  return wanted === undefined ? null : (Math.min(count - 1, Math.max(0, wanted)) + 0.5) / count;
}
