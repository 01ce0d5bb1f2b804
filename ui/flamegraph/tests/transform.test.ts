// SPDX-License-Identifier: Apache-2.0
// Every view of a tree against the plainest way to make it: as lists of paths.
import { describe, expect, it } from 'vitest';
import { readDocument } from '../src/document/document.ts';
import { Frames } from '../src/document/frames.ts';
import { layout, type Columns } from '../src/document/layout.ts';
import type { Profile } from '../src/document/profile.ts';
import { NO_TRANSFORM, transformed, type Transform } from '../src/lens/transform.ts';
import { cpuSample, largeSample } from './sample.ts';

type Stacks = Map<string, number>;

/** Returns stacks, root first, `;` between frames; the omitted value of a node is a frame `...` under it. */
function stacksOf(columns: Columns, frames: Frames): Stacks {
  const stacks: Stacks = new Map();
  const path: string[] = [];
  const paths: string[] = [];
  const add = (key: string, value: number) => value > 0 && stacks.set(key, (stacks.get(key) ?? 0) + value);
  columns.depth.forEach((depth, node) => {
    path.length = Math.max(0, depth - 1);
    if (depth > 0) path.push(frames.label(columns.frame[node]!));
    paths.push(path.join(';'));
    add(path.join(';'), columns.self[node]!);
  });
  columns.omitted.node.forEach((node, i) => add(`${paths[node]};...`, columns.omitted.total[i]!));
  return stacks;
}

const frameNames = (key: string) => key.split(';').filter((name) => name !== '');

function mapped(stacks: Stacks, change: (names: string[]) => string[] | null): Stacks {
  const result: Stacks = new Map();
  for (const [key, value] of stacks) {
    const names = change(frameNames(key));
    if (names !== null) result.set(names.join(';'), (result.get(names.join(';')) ?? 0) + value);
  }
  return result;
}

function foldNames(names: string[]): string[] {
  const result: string[] = [];
  for (const name of names) {
    const at = result.indexOf(name);
    if (at >= 0) result.length = at + 1;
    else result.push(name);
  }
  return result;
}

const subjects: [string, Profile][] = [
  ['a small tree', readDocument(cpuSample({ 'a.A.f;a.B.g;a.A.f;a.C.h': 7, 'a.A.f;a.B.g': 5, 'a.C.h;a.B.g;a.B.g': 3, 'a.C.h': 2, '': 1 })).profiles[0]!],
  ['a large tree', readDocument(largeSample(8_000, 25)).profiles[0]!],
];

describe.each(subjects)('%s', (_, profile) => {
  const columns = profile.columns();
  const stacks = stacksOf(columns, profile.frames);
  const wanted = profile.frame[profile.children(0).sort((a, b) => profile.total[b]! - profile.total[a]!)[0]! + 1]!;
  const name = profile.frames.label(wanted);
  const run = (part: Partial<Transform>) => stacksOf(transformed(columns, profile.frames.ranks(), { ...NO_TRANSFORM, ...part }), profile.frames);

  it('is the same when nothing is asked', () => {
    expect(run({})).toEqual(stacks);
  });
  it('reverses', () => {
    expect(run({ reverse: true })).toEqual(mapped(stacks, (names) => [...names].reverse()));
  });
  it('folds recursion', () => {
    expect(run({ fold: true })).toEqual(mapped(stacks, foldNames));
  });
  it('removes stacks', () => {
    expect(run({ remove: [wanted] })).toEqual(mapped(stacks, (names) => (names.includes(name) ? null : names)));
  });
  it('focuses', () => {
    expect(run({ focus: wanted })).toEqual(mapped(stacks, (names) => (names.includes(name) ? names.slice(names.indexOf(name)) : null)));
  });
  it('finds callers', () => {
    expect(run({ callers: wanted })).toEqual(mapped(stacks, (names) => (names.includes(name) ? names.slice(0, names.indexOf(name) + 1).reverse() : null)));
  });
  it('shows one thread, and all together', () => {
    const thread = profile.frame[1]!;
    const label = profile.frames.label(thread);
    expect(run({ thread: String(thread) })).toEqual(mapped(stacks, (names) => (names[0] === label ? names.slice(1) : names.length === 0 ? names : null)));
    expect(run({ thread: 'all' })).toEqual(mapped(stacks, (names) => names.slice(1)));
  });
  it('does several things in their order', () => {
    const expected = mapped(mapped(stacks, foldNames), (names) => (names.includes(name) ? names.slice(names.indexOf(name)).reverse() : null));
    expect(run({ fold: true, focus: wanted, reverse: true })).toEqual(expected);
  });
  it('orders siblings by name, as documents do', () => {
    const { frame, depth } = transformed(columns, profile.frames.ranks(), { ...NO_TRANSFORM, fold: true });
    const last: string[] = [];
    depth.forEach((level, node) => {
      const label = level === 0 ? '' : profile.frames.key(frame[node]!).slice(1);
      if (last.length > level) expect(label > last[level]!).toBe(true);
      last.length = level;
      last[level] = label;
    });
  });
});

describe('omitted parts', () => {
  const document = cpuSample({ 'a.A.f;a.B.g': 50, 'a.A.f': 30 });
  document.profiles[0]!.omitted = { node: [1], total: [25], count: [9] };
  document.profiles[0]!.nodes.self[1] = 5;
  const profile = readDocument(document).profiles[0]!;
  const show = (part: Partial<Transform>) => transformed(profile.columns(), profile.frames.ranks(), { ...NO_TRANSFORM, ...part });

  it('stay under their frame, and beside all leaves in a reversed tree', () => {
    const b = profile.frame[2]!;
    expect([...show({ remove: [b] }).omitted.total]).toEqual([25]);
    const reversed = show({ reverse: true });
    expect([reversed.omitted.node[0], reversed.omitted.total[0], layout(reversed).total[0]]).toEqual([0, 25, 80]);
  });

  it('count for the callers of their frame', () => {
    expect(layout(show({ callers: profile.frame[1]! })).total[0]).toBe(80);
  });
});

describe('comparisons', () => {
  it('keep both sides in every view', () => {
    const { frames } = readDocument(cpuSample({ 'a.A.f;a.B.g': 4, 'a.B.g': 6 })).profiles[0]!;
    const columns = readDocument(cpuSample({ 'a.A.f;a.B.g': 4, 'a.B.g': 6 })).profiles[0]!.columns();
    columns.before = Float64Array.of(0, 0, 9, 1);
    for (const part of [{ reverse: true }, { fold: true }, { focus: 1 }, { callers: 1 }]) {
      const { sides } = layout(transformed(columns, frames.ranks(), { ...NO_TRANSFORM, ...part }));
      expect([sides!.before[0], sides!.after[0]]).toEqual([10, 10]);
    }
  });
});
