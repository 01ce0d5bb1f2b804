// SPDX-License-Identifier: Apache-2.0
// Heatmaps in the worker: reads their cells, adds them up by bucket, and makes the tree of a stretch of time.
import { amount, amounts, array, decimal, FormatError, integers, object, text } from './document.ts';
import type { Columns } from './layout.ts';

const MAX_BUCKETS = 1 << 20;

/** When the samples of a profile were. Times are ms. */
export interface Clock {
  /** UTC time of bucket 0. */
  origin: number;
  /** Length of a bucket. */
  step: number;
  /** Buckets. */
  count: number;
  /** Where recording began and ended, in turns, from the origin on; empty = all the time. */
  spans: number[];
  /** Value of samples before or after all spans, which count in the first or last bucket. */
  outside: number;
}

/** A row per entry, in order of time. */
export interface Cells extends Clock {
  bucket: Int32Array;
  /** The number of a node, then of an omitted block, then the one for samples without a stack. */
  place: Int32Array;
  value: Float64Array;
}

/** The sum of each bucket. */
export interface Heat extends Clock {
  sums: Float64Array;
}

/** Reads cells. They name stacks by their place among the nodes that have a value, the omitted blocks, and samples without a stack. */
function read(value: unknown, place: string, { self, omitted }: Columns): Cells {
  const source = object(value, place);
  const number = (key: string, min: number, max: number) => {
    const [found] = integers([source[key]], `${place}.${key}`, min, max);
    return found!;
  };
  const origin = text(source['origin_ns'], `${place}.origin_ns`);
  if (!/^-?\d{1,19}$/.test(origin)) throw new FormatError(`${place}.origin_ns is not a decimal string`);
  const cells = object(source['cells'], `${place}.cells`);
  const size = array(cells['value'], `${place}.cells.value`).length;
  const count = number('buckets', 1, MAX_BUCKETS);
  const skipped = integers(cells['bucket'], `${place}.cells.bucket`, 0, MAX_BUCKETS, size);
  const places = [...self.keys()].filter((node) => self[node]! > 0);
  for (let i = 0; i <= omitted.node.length; i++) places.push(self.length + i);
  const stacks = integers(cells['stack'], `${place}.cells.stack`, 0, places.length - 1, size);
  let bucket = 0;
  skipped.forEach((skip, i) => {
    skipped[i] = bucket += skip;
    if (bucket >= count) throw new FormatError(`${place}.cells.bucket[${i}] is behind the last bucket`);
  });
  const step = amount(source['step_ns'], `${place}.step_ns`);
  if (step === 0) throw new FormatError(`${place}.step_ns is 0: a bucket has no length`);
  return {
    origin: Number(origin) / 1e6,
    step: step / 1e6,
    count,
    spans: [...amounts(source['spans'], `${place}.spans`)],
    outside: Number(decimal(source['outside'], `${place}.outside`)),
    bucket: skipped,
    place: stacks.map((stack) => places[stack]!),
    value: amounts(cells['value'], `${place}.cells.value`, size),
  };
}

/** Returns for each place the frame of its thread, where the tree's first row has threads; -1 = none. */
function threadsOf({ depth, frame, omitted }: Columns): Int32Array {
  const nodes = depth.length;
  const result = new Int32Array(nodes + omitted.node.length + 1).fill(-1);
  let thread = -1;
  for (let node = 1; node < nodes; node++) {
    if (depth[node] === 1) thread = frame[node]!;
    result[node] = thread;
  }
  omitted.node.forEach((node, i) => (result[nodes + i] = result[node]!));
  return result;
}

/** Returns the sums of all samples, or of one thread's. */
function sum(columns: Columns, { bucket, place, value, ...clock }: Cells, thread: number): Heat {
  const sums = new Float64Array(clock.count);
  const threads = thread < 0 ? null : threadsOf(columns);
  for (let i = 0; i < bucket.length; i++) {
    if (threads === null || threads[place[i]!] === thread) sums[bucket[i]!]! += value[i]!;
  }
  return { ...clock, sums };
}

/** Returns the tree of the samples from bucket `from` to before bucket `to`, without the nodes that have none. */
function pick({ depth, frame, omitted }: Columns, cells: Cells, from: number, to: number): Columns {
  const nodes = depth.length;
  const blocks = omitted.node.length;
  const sums = new Float64Array(nodes + blocks + 1);
  for (let i = 0; i < cells.bucket.length && cells.bucket[i]! < to; i++) {
    if (cells.bucket[i]! >= from) sums[cells.place[i]!]! += cells.value[i]!;
  }
  const cut = omitted.node[0] === 0 ? 0 : -1;
  const nowhere = sums[nodes + blocks]!;
  if (cut === 0) sums[nodes]! += nowhere;
  // From the last node to the first: a node is kept when it has a value, or a node below it is kept.
  const kept = new Uint8Array(nodes);
  const below = new Uint8Array(depth.reduce((most, at) => Math.max(most, at), 0) + 2);
  omitted.node.forEach((node, i) => (kept[node] = sums[nodes + i]! > 0 ? 1 : 0));
  for (let node = nodes - 1; node >= 0; node--) {
    const at = depth[node]!;
    if (node === 0 || sums[node]! > 0 || below[at + 1]) kept[node] = 1;
    below[at + 1] = 0;
    below[at]! |= kept[node]!;
  }
  const order = [...kept.keys()].filter((node) => kept[node]);
  const number = new Int32Array(nodes);
  order.forEach((node, i) => (number[node] = i));
  const left = [...omitted.node.keys()].filter((i) => sums[nodes + i]! > 0);
  const extra = cut < 0 && nowhere > 0;
  const column = (of: Int32Array) => Int32Array.from(order, (node) => of[node]!);
  return {
    depth: column(depth),
    frame: column(frame),
    self: Float64Array.from(order, (node) => sums[node]!),
    before: null,
    omitted: {
      node: Int32Array.from([...(extra ? [0] : []), ...left.map((i) => number[omitted.node[i]!]!)]),
      total: Float64Array.from([...(extra ? [nowhere] : []), ...left.map((i) => sums[nodes + i]!)]),
      before: null,
      // The number of a block's nodes with samples in that time is not known.
      count: new Int32Array(left.length + (extra ? 1 : 0)),
    },
  };
}

/** The functions that a page with heatmaps adds to the worker. */
export const heatKitchen = { read, sum, pick };
export type HeatKitchen = typeof heatKitchen;
