// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { readDocument } from '../src/document/document.ts';
import type { Profile } from '../src/document/profile.ts';
import { firstEndingAfter, itemAt, MIN_WIDTH, visitRow, type Item, type Span } from '../src/document/rows.ts';
import { topFrames } from '../src/lens/top.ts';
import { cpuSample, largeSample, sequence } from './sample.ts';

const profileOf = (stacks: Record<string, number>): Profile => readDocument(cpuSample(stacks)).profiles[0]!;

const shop = () => profileOf({ 'a.A.run;a.B.load;java.X.read': 40, 'a.A.run;a.B.load': 10, 'a.A.run;a.C.sum': 30, 'a.Z.idle': 20 });

const named = (profile: Profile, label: string): number => {
  for (let box = 0; box < profile.boxCount; box++) if (profile.label(box) === label) return box;
  throw new Error(`no ${label}`);
};

function items(profile: Profile, row: number, span: Span): Item[] {
  const result: Item[] = [];
  visitRow(profile, row, span, (item) => result.push({ ...item }));
  return result;
}

/** Does the same as visitRow, box by box. */
function slowItems(profile: Profile, row: number, { x0, x1, width }: Span): Item[] {
  const scale = width / (x1 - x0);
  const result: Item[] = [];
  for (let index = profile.rowStart[row]!; index < profile.rowStart[row + 1]!; index++) {
    const box = profile.rowBoxes[index]!;
    const total = profile.total[box]!;
    const from = profile.start[box]!;
    if (from + total <= x0 || from >= x1 || total === 0) continue;
    const left = Math.max(0, (from - x0) * scale);
    const right = Math.min(width, (from + total - x0) * scale);
    const merged = total * scale < MIN_WIDTH;
    const block = result.at(-1);
    if (merged && block?.merged === true && left - block.right <= 1) Object.assign(block, { last: box, count: block.count + 1, total: block.total + total, right });
    else result.push({ first: box, last: box, index, count: 1, total, merged, left, right });
  }
  return result;
}

/** Returns the profile, and a counter of reads of boxes' starts. */
function counted(profile: Profile): { profile: Profile; asked: () => number } {
  let count = 0;
  const start = new Proxy(profile.start, {
    get: (of, key) => {
      count++;
      return of[key as unknown as number];
    },
  });
  return { profile: Object.assign(Object.create(profile) as Profile, { start }), asked: () => count };
}

describe('Profile', () => {
  it('places children side by side from their parent on', () => {
    const profile = shop();
    const place = (label: string) => [profile.start[named(profile, label)], profile.total[named(profile, label)]];
    expect(place('a.A.run')).toEqual([0, 80]);
    expect(place('a.B.load')).toEqual([0, 50]);
    expect(place('a.C.sum')).toEqual([50, 30]);
    expect(place('a.Z.idle')).toEqual([80, 20]);
    expect(place('java.X.read')).toEqual([0, 40]);
  });

  it('puts an omitted block behind the children of its node', () => {
    const document = cpuSample({ 'a.A.run;a.B.load': 50, 'a.A.run': 30 });
    const source = document.profiles[0]!;
    source.nodes.self[1] = 5;
    source.omitted = { node: [1], total: [25], count: [9] };
    const profile = readDocument(document).profiles[0]!;
    const omitted = profile.nodeCount;
    expect(profile.start[omitted]).toBe(50);
    expect(profile.total[omitted]).toBe(25);
    expect(profile.label(omitted)).toBe('\u2026 9 omitted frames');
    expect(profile.children(1)).toEqual([2, omitted]);
    expect(profile.deepestUnder(0)).toBe(2);
  });

  it('knows the deepest row under each box', () => {
    const document = largeSample(2_000);
    const source = document.profiles[0]!;
    source.nodes.depth.forEach((depth, node) => {
      if (depth % 5 !== 4 || source.nodes.self[node]! < 100) return;
      source.omitted.node.push(node);
      source.omitted.total.push(100);
      source.omitted.count.push(1);
      source.nodes.self[node]! -= 100;
    });
    const profile = readDocument(document).profiles[0]!;
    expect(profile.boxCount).toBeGreaterThan(profile.nodeCount + 20);
    const deepest = (box: number): number => profile.children(box).reduce((most, child) => Math.max(most, deepest(child)), profile.depth[box]!);
    for (let box = 0; box < profile.boxCount; box++) expect(profile.deepestUnder(box)).toBe(deepest(box));
    expect(profile.deepestUnder(0)).toBe(profile.maxDepth);
  });

  it('finds a path again in a profile that has grown', () => {
    const before = shop();
    const after = profileOf({ 'a.A.run;a.B.load;java.X.read': 41, 'a.0.early': 7, 'a.Z.idle': 20 });
    const path = before.pathOf(named(before, 'java.X.read'));
    expect(after.label(after.findPath(path))).toBe('java.X.read');
  });

  it('falls back to the nearest ancestor that is still there', () => {
    const before = shop();
    const after = profileOf({ 'a.A.run;a.C.sum': 3 });
    expect(after.label(after.findPath(before.pathOf(named(before, 'java.X.read'))))).toBe('a.A.run');
  });

  it('names frames of libraries with their library', () => {
    const profile = profileOf({ 'native:libc.so.6!read': 1, 'kernel:do_syscall_64': 1 });
    expect([profile.label(1), profile.label(2)].sort()).toEqual(['do_syscall_64', 'libc.so.6.read']);
  });

  it('shows control and bidi characters in names', () => {
    const profile = profileOf({ 'a.\u202eevil\u0000.x': 1 });
    expect(profile.label(1)).toBe('a.\u27e8202E\u27e9evil\u2400.x');
  });

  it('holds a chain as deep as the format allows', () => {
    const depth = 65_535;
    const column = (value: number) => new Array<number>(depth + 1).fill(value);
    const document = cpuSample({ 'a.A.run': 1 });
    const source = document.profiles[0]!;
    source.nodes = {
      depth: column(0).map((_, i) => i),
      frame: column(0).map((_, i) => (i === 0 ? -1 : 0)),
      self: column(0).map((_, i) => (i === depth ? 1 : 0)),
    };
    const profile = readDocument(document).profiles[0]!;
    expect(profile.maxDepth).toBe(depth);
    expect(topFrames(profile, 5)).toEqual([{ frame: 0, self: 1, total: 1 }]);
  });
});

describe('rows', () => {
  it('cuts boxes to the zoomed span', () => {
    const profile = shop();
    const [only] = items(profile, 1, { x0: 50, x1: 80, width: 300 });
    expect([only!.left, only!.right]).toEqual([0, 300]);
    expect(items(profile, 2, { x0: 50, x1: 80, width: 300 })).toHaveLength(1);
  });

  it('merges what is too narrow to draw, and loses nothing', () => {
    const stacks: Record<string, number> = { 'a.Wide.one': 10_000 };
    for (let i = 0; i < 100; i++) stacks[`b.Thin.m${String(i).padStart(3, '0')}`] = 1;
    stacks['c.Wide.two'] = 10_000;
    const row = items(profileOf(stacks), 1, { x0: 0, x1: 20_100, width: 1000 });
    expect(row.map((item) => item.merged)).toEqual([false, true, false]);
    expect(row[1]).toMatchObject({ count: 100, total: 100 });
  });

  it('draws every value of a row exactly once', () => {
    const profile = readDocument(largeSample(20_000)).profiles[0]!;
    const span = { x0: 0, x1: profile.total[0]!, width: 900 };
    for (let row = 0; row <= profile.maxDepth; row++) {
      const boxes = profile.rowBoxes.subarray(profile.rowStart[row], profile.rowStart[row + 1]);
      const expected = boxes.reduce((sum, box) => sum + profile.total[box]!, 0);
      const drawn = items(profile, row, span);
      expect(drawn.reduce((sum, item) => sum + item.total, 0)).toBe(expected);
      for (let i = 1; i < drawn.length; i++) expect(drawn[i]!.left).toBeGreaterThanOrEqual(drawn[i - 1]!.right - 1e-6);
    }
  });

  it('shows by groups what it shows box by box', () => {
    const profile = readDocument(largeSample(20_000)).profiles[0]!;
    const random = sequence(3);
    const whole = profile.total[0]!;
    const spans = Array.from({ length: 12 }, (_, i) => {
      const width = whole * random() ** i;
      const x0 = (whole - width) * random();
      return { x0, x1: x0 + width, width: 200 + 1000 * random() };
    });
    for (const span of [{ x0: 0, x1: whole, width: 1280 }, ...spans]) {
      for (let row = 0; row <= profile.maxDepth; row++) expect(items(profile, row, span)).toEqual(slowItems(profile, row, span));
    }
  });

  it('does not visit what is too narrow to see', () => {
    const stacks: Record<string, number> = {};
    for (let i = 0; i < 32_000; i++) stacks[`a.A${String(i).padStart(5, '0')}.f`] = 1;
    const { profile, asked } = counted(profileOf(stacks));
    const [block, ...more] = items(profile, 1, { x0: 0, x1: 32_000, width: 1000 });
    expect([more.length, block!.count, block!.total]).toEqual([0, 32_000, 32_000]);
    // Three reads for each group of 16, and the boxes before the first and after the last group.
    expect(asked()).toBeLessThan(32_000 / 4);
  });

  it('visits next to nothing in a stretch', () => {
    const { profile, asked } = counted(readDocument(largeSample(50_000)).profiles[0]!);
    const whole = profile.total[0]!;
    for (let row = 0; row <= profile.maxDepth; row++) items(profile, row, { x0: whole * 0.4, x1: whole * 0.401, width: 1000 });
    expect(asked()).toBeLessThan(profile.nodeCount / 10);
  });

  it('finds the same first box as a scan', () => {
    const profile = readDocument(largeSample(3_000)).profiles[0]!;
    const { rowStart, rowBoxes, start, total } = profile;
    for (let row = 0; row <= profile.maxDepth; row++) {
      for (const share of [0, 0.1, 0.5, 0.77, 1]) {
        const value = share * profile.total[0]!;
        let scan = rowStart[row]!;
        while (scan < rowStart[row + 1]! && start[rowBoxes[scan]!]! + total[rowBoxes[scan]!]! <= value) scan++;
        expect(firstEndingAfter(profile, row, value)).toBe(scan);
      }
    }
  });

  it('hits the box under the mouse, and nothing beside the row', () => {
    const profile = shop();
    const span = { x0: 0, x1: 100, width: 1000 };
    expect(profile.label(itemAt(profile, 1, span, 810)!.first)).toBe('a.Z.idle');
    expect(itemAt(profile, 3, span, 900)).toBeNull();
    expect(itemAt(profile, 9, span, 5)).toBeNull();
  });

  it('hits what is thinner than a pixel on its pixel, over its neighbour, and beside it over nothing', () => {
    const profile = profileOf({ 'a.A.big': 100_000, 'b.B.tiny': 1 });
    const span = { x0: 0, x1: 200_000, width: 1000 };
    const thin = { merged: true, count: 1, total: 1 };
    expect(itemAt(profile, 1, span, 500)).toMatchObject(thin);
    expect(itemAt(profile, 1, span, 501.6)).toMatchObject(thin);
    expect(profile.label(itemAt(profile, 1, span, 499)!.first)).toBe('a.A.big');
    expect(itemAt(profile, 1, span, 503)).toBeNull();
  });
});

describe('topFrames', () => {
  it('counts a recursive frame once per stack', () => {
    const profile = profileOf({ 'a.A.f;a.A.g;a.A.f': 10, 'a.A.f': 5 });
    const rows = topFrames(profile, 10).map(({ frame, self, total }) => [profile.frames.label(frame), self, total]);
    expect(rows).toEqual([
      ['a.A.f', 15, 15],
      ['a.A.g', 0, 10],
    ]);
  });

  it('agrees with the tree about self', () => {
    const profile = readDocument(largeSample(5_000)).profiles[0]!;
    const sum = topFrames(profile, Infinity).reduce((all, row) => all + row.self, 0);
    expect(sum).toBe(profile.total[0]! - profile.self[0]!);
  });
});
