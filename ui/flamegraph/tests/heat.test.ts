// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { openDocument } from '../src/document/document.ts';
import { heatKitchen, type Cells, type Heat } from '../src/document/heat.ts';
import { clockTime, HeatGrid } from '../src/drawing/heatgrid.ts';
import { layout, type Columns } from '../src/document/layout.ts';
import { cpuSample, sequence } from './sample.ts';

const SECOND = 1000;
const START = Date.UTC(2026, 0, 31, 9, 15, 7);

/** Reads a document with these cells: [bucket, stack, value]. */
function read(rows: [number, number, number][], more: Record<string, unknown> = {}) {
  const document = cpuSample({ 'a.A.f': 3, 'a.A.f;a.B.g': 2, 'a.C.h': 1 });
  const cells = {
    bucket: rows.map(([bucket], i) => bucket - (i > 0 ? rows[i - 1]![0] : 0)),
    stack: rows.map(([, stack]) => stack),
    value: rows.map(([, , value]) => value),
  };
  document.profiles[0]!.heat = { cells, buckets: 100, step_ns: 20_000_000, origin_ns: `${START}000000`, outside: '0', spans: [0, 2000], ...more };
  const { columns, cells: result } = openDocument(document, heatKitchen).profile(0);
  return { columns, cells: result! };
}

/** Returns a tree with random cells, nodes and blocks. */
function random(seed: number): { columns: Columns; cells: Cells } {
  const next = sequence(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  const depth = [0];
  for (let i = 1; i < 200; i++) depth.push(1 + below(Math.min(12, depth[i - 1]! + 1)));
  const nodes = depth.length;
  const omitted = [...depth.keys()].filter(() => next() < 0.1);
  const cells: [number, number, number][] = [];
  for (let bucket = 0; bucket < 60; bucket++) for (let place = 0; place <= nodes + omitted.length; place++) if (next() < 0.02) cells.push([bucket, place, 1 + below(50)]);
  const column = (part: 0 | 1) => Int32Array.from(cells, (row) => row[part]);
  return {
    columns: {
      depth: Int32Array.from(depth),
      frame: Int32Array.from(depth, (at, i) => (at === 0 ? -1 : i % 17)),
      self: new Float64Array(nodes),
      before: null,
      omitted: { node: Int32Array.from(omitted), total: new Float64Array(omitted.length), before: null, count: new Int32Array(omitted.length) },
    },
    cells: { origin: START, step: 20, count: 60, spans: [], outside: 0, bucket: column(0), place: column(1), value: Float64Array.from(cells, ([, , value]) => value) },
  };
}

describe('cells', () => {
  it('are placed by bucket and stack', () => {
    const { cells } = read([[0, 0, 7], [0, 2, 1], [42, 3, 9]]);
    expect([[...cells.bucket], [...cells.place], [...cells.value]]).toEqual([[0, 0, 42], [1, 3, 4], [7, 1, 9]]);
    expect([cells.origin, cells.step, cells.count, cells.spans]).toEqual([START, 20, 100, [0, 2000]]);
  });

  it.each([
    [{ buckets: 42 }, 'cells.bucket[2] is behind the last bucket'],
    [{ step_ns: 0 }, 'no length'],
    [{ buckets: 2 ** 30 }, 'buckets'],
    [{ origin_ns: 'x' }, 'origin_ns'],
    [{ spans: [-1, 3] }, 'spans'],
    [{ cells: { bucket: [0], stack: [4], value: [1, 2] } }, 'cells.bucket has 1 entries where 2 belong'],
    [{ cells: { bucket: [0], stack: [5], value: [1] } }, 'cells.stack[0] is not an integer from 0 to 3'],
    [{ cells: { bucket: [0], stack: [0], value: [-1] } }, 'cells.value[0] is not a number of 0 or more'],
  ])('are refused when they are damaged: %j', (more, says) => {
    expect(() => read([[0, 0, 7], [0, 2, 1], [42, 3, 9]], more)).toThrow(says);
  });
});

describe('a stretch of time', () => {
  it.each([1, 2, 3, 4, 5])('has the values of its cells, to the unit (%i)', (seed) => {
    const { columns, cells } = random(seed);
    const [from, to] = [seed * 3, seed * 11];
    const place = layout(heatKitchen.pick(columns, cells, from, to));
    const wanted = [...cells.value.keys()].filter((i) => cells.bucket[i]! >= from && cells.bucket[i]! < to);
    expect(place.total[0]).toBe(wanted.reduce((sum, i) => sum + cells.value[i]!, 0));
    // By path of frames: what is at the nodes themselves, and in omitted blocks.
    const naive = new Map<string, number>();
    const pathOf = (node: number): string => {
      const path: number[] = [];
      let at = node;
      for (let depth = columns.depth[node]!; depth > 0; depth--) {
        while (columns.depth[at] !== depth) at--;
        path.push(at);
      }
      return path.reverse().map((step) => columns.frame[step]).join(' ');
    };
    const nodes = columns.depth.length;
    for (const i of wanted) {
      const at = cells.place[i]!;
      const key = at < nodes ? `self ${pathOf(at)}` : `cut ${at - nodes < columns.omitted.node.length ? pathOf(columns.omitted.node[at - nodes]!) : ''}`;
      naive.set(key, (naive.get(key) ?? 0) + cells.value[i]!);
    }
    const made = new Map<string, number>();
    for (let box = 0; box < place.boxCount; box++) {
      const path: number[] = [];
      for (let at = box < place.nodeCount ? box : place.parent[box]!; at > 0; at = place.parent[at]!) path.push(place.frame[at]!);
      const key = `${box < place.nodeCount ? 'self' : 'cut'} ${path.reverse().join(' ')}`;
      const value = box < place.nodeCount ? place.self[box]! : place.total[box]!;
      if (value > 0) made.set(key, (made.get(key) ?? 0) + value);
      expect(place.total[box]! > 0 || box === 0).toBe(true);
    }
    expect(made).toEqual(naive);
  });

  it('adds up by bucket, of all and of one thread', () => {
    const { columns, cells } = random(9);
    const all = heatKitchen.sum(columns, cells, -1).sums;
    const threads = Array.from({ length: 17 }, (_, frame) => heatKitchen.sum(columns, cells, frame).sums);
    const nowhere = (bucket: number) => [...cells.value.keys()].filter((i) => cells.bucket[i] === bucket && (cells.place[i] === 0 || cells.place[i]! >= columns.depth.length)).reduce((sum, i) => sum + cells.value[i]!, 0);
    all.forEach((sum, bucket) => {
      const apart = threads.reduce((total, sums) => total + sums[bucket]!, 0);
      expect(apart).toBeLessThanOrEqual(sum);
      expect(apart).toBeGreaterThanOrEqual(sum - nowhere(bucket));
    });
  });
});

describe('the grid', () => {
  const heat = (seconds: number, step = 20, spans: number[] = []): Heat => ({ origin: START, step, count: (seconds * SECOND) / step, spans, outside: 0, sums: new Float64Array((seconds * SECOND) / step).fill(1) });
  const whole = (of: Heat, width = 1200) => new HeatGrid(of, 0, of.count, width);

  it.each([
    [10, 20, 200, 10],
    [60, 20, 1000, 50],
    [600, 20, 5000, 50],
    [3600, 20, 20_000, 50],
    [3600, 200, 20_000, 50],
    [86_400, 1000, 300_000, 50],
  ])('%i s in steps of %i ms: columns of %i ms with %i rows', (seconds, step, length, rows) => {
    const grid = whole(heat(seconds, step));
    expect([grid.length, grid.rows]).toEqual([length, rows]);
    expect(grid.columns * grid.cellWidth).toBeLessThanOrEqual(1200);
    expect(grid.cellWidth).toBeGreaterThanOrEqual(4);
    expect(grid.cells.reduce((sum, value) => sum + Math.max(0, value), 0)).toBe(heat(seconds, step).count);
  });

  it('is aligned to the clock, and blank beside the recording', () => {
    const grid = whole(heat(600));
    expect(grid.time(grid.base) % 5000).toBe(0);
    expect(grid.cells[0]).toBe(-1);
    expect(grid.bucketOf(0)).toBe(0);
  });

  it('tells gaps from nothing', () => {
    const of = heat(60, 20, [0, 10_000, 20_000, 60_000]);
    of.sums.fill(0);
    const grid = whole(of);
    const at = (ms: number) => grid.cells[grid.cellOf(ms / 20)];
    expect([at(5000), at(9980), at(10_000), at(19_980), at(20_000)]).toEqual([0, 0, NaN, NaN, 0]);
  });

  it('has labels that stand apart, at round times', () => {
    for (const seconds of [10, 60, 3600, 86_400]) {
      const grid = whole(heat(seconds, seconds > 3600 ? 1000 : 20), 700);
      const ticks = grid.ticks(72);
      expect(ticks.length).toBeGreaterThan(1);
      ticks.forEach(({ column, time, spacing }, i) => {
        expect(time % spacing).toBe(0);
        if (i > 0) expect((column - ticks[i - 1]!.column) * grid.cellWidth).toBeGreaterThanOrEqual(72);
      });
    }
  });

  it('writes times with the digits that they need', () => {
    expect([1000, 200, 20].map((exact) => clockTime(START + 140, exact))).toEqual(['09:15:07', '09:15:07.1', '09:15:07.140']);
  });

  it('takes odd steps', () => {
    const grid = whole({ ...heat(10), step: 7, count: 1000, origin: 7 * 12345, sums: new Float64Array(1000).fill(1) });
    expect(grid.cells.reduce((sum, value) => sum + Math.max(0, value), 0)).toBe(1000);
  });
});
