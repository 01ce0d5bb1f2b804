// SPDX-License-Identifier: Apache-2.0
// Makes other views of a tree: each is a new tree from the paths of the old one. Sums stay exact: every value of the old tree ends at one
// node or omitted block of the new one, or is left out because its path was not asked for.
import type { Columns } from '../document/layout.ts';

/** What to do with a tree, in this order. Frames are numbers of the document's table; -1 = none. */
export interface Transform {
  /** '' = as recorded, 'all' = threads together, else the frame of one thread as text. */
  thread: string;
  /** Frames whose stacks are left out. */
  remove: number[];
  /** A frame that is on its path already is the same call: its callees are added to the first one. */
  fold: boolean;
  /** The frame to begin at, with its callees. */
  focus: number;
  /** The frame to begin at, with its callers. */
  callers: number;
  /** Leaves first. */
  reverse: boolean;
}

export const NO_TRANSFORM: Transform = { thread: '', remove: [], fold: false, focus: -1, callers: -1, reverse: false };

/** The most nodes of a tree; values without room are counted as omitted. */
const MAX_NODES = 2_000_000;

function grown<T extends Int32Array | Float64Array>(old: T, make: (size: number) => T): T {
  const next = make(old.length * 2);
  next.set(old as never);
  return next;
}

const int32 = (size: number) => new Int32Array(size);
const float64 = (size: number) => new Float64Array(size);

/** Returns a value of the older side, which only comparisons have. */
function older(values: Float64Array | null, at: number): number {
  return values?.[at] ?? 0;
}

/** A tree under construction; an open-addressed table finds children by (parent, frame). */
class Trie {
  count = 1;
  private frame = int32(1024);
  private parent = int32(1024);
  private self = float64(1024);
  private before = float64(1024);
  private slots = int32(4096);
  private readonly omitted = new Map<number, [total: number, before: number, count: number]>();

  constructor(private readonly compares: boolean) {
    this.frame[0] = -1;
  }

  /** Returns the slot of a child, or the empty slot for it. */
  private slotOf(parent: number, frame: number): number {
    const mask = this.slots.length - 1;
    let slot = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca77)) >>> 7 & mask;
    for (let node; (node = this.slots[slot]!) !== 0; slot = (slot + 1) & mask) {
      if (this.parent[node] === parent && this.frame[node] === frame) break;
    }
    return slot;
  }

  /** Returns the child of a node for a frame, and makes it when missing; -1 when there is no room. */
  child(parent: number, frame: number): number {
    const slot = this.slotOf(parent, frame);
    if (this.slots[slot] !== 0) return this.slots[slot]!;
    if (this.count === MAX_NODES) return -1;
    if (this.count === this.frame.length) this.grow();
    const node = this.count++;
    this.frame[node] = frame;
    this.parent[node] = parent;
    this.slots[slot] = node;
    if (this.count * 2 > this.slots.length) this.rehash();
    return node;
  }

  /** Returns the node of a frame on the path to a node, or 0. */
  onPath(node: number, frame: number): number {
    while (node > 0 && this.frame[node] !== frame) node = this.parent[node]!;
    return node;
  }

  private grow(): void {
    this.frame = grown(this.frame, int32);
    this.parent = grown(this.parent, int32);
    this.self = grown(this.self, float64);
    this.before = grown(this.before, float64);
  }

  private rehash(): void {
    this.slots = int32(this.slots.length * 2);
    for (let node = 1; node < this.count; node++) this.slots[this.slotOf(this.parent[node]!, this.frame[node]!)] = node;
  }

  add(node: number, self: number, before: number): void {
    this.self[node]! += self;
    this.before[node]! += before;
  }

  omit(node: number, total: number, before: number, count: number): void {
    const known = this.omitted.get(node);
    this.omitted.set(node, [(known?.[0] ?? 0) + total, (known?.[1] ?? 0) + before, (known?.[2] ?? 0) + count]);
  }

  /** Returns the tree in preorder, siblings by rank. */
  columns(ranks: Int32Array): Columns {
    const { count, frame, parent } = this;
    // Nodes by parent, then by rank: the children of a node are adjacent, from first[node] on.
    const first = int32(count + 1);
    for (let node = 1; node < count; node++) first[parent[node]! + 1]!++;
    for (let node = 0; node < count; node++) first[node + 1]! += first[node]!;
    const order = int32(count);
    const filled = first.slice();
    for (let node = 1; node < count; node++) order[filled[parent[node]!]!++] = node;
    for (let node = 0; node < count; node++) {
      const children = order.subarray(first[node]!, first[node + 1]!);
      if (children.length > 1) children.sort((a, b) => ranks[frame[a]!]! - ranks[frame[b]!]!);
    }
    const depth = int32(count);
    const frames = int32(count);
    const self = float64(count);
    const before = this.compares ? float64(count) : null;
    const cut: [node: number, total: number, before: number, count: number][] = [];
    const pending: number[] = [0];
    const depths: number[] = [0];
    for (let at = 0; at < count; at++) {
      const node = pending.pop()!;
      const level = depths.pop()!;
      depth[at] = level;
      frames[at] = frame[node]!;
      self[at] = this.self[node]!;
      if (before !== null) before[at] = this.before[node]!;
      const omitted = this.omitted.get(node);
      if (omitted !== undefined) cut.push([at, ...omitted]);
      for (let i = first[node + 1]! - 1; i >= first[node]!; i--) {
        pending.push(order[i]!);
        depths.push(level + 1);
      }
    }
    const column = (i: 1 | 2) => Float64Array.from(cut, (row) => row[i]);
    const omitted = { node: Int32Array.from(cut, ([at]) => at), total: column(1), before: this.compares ? column(2) : null, count: Int32Array.from(cut, (row) => row[3]) };
    return { depth, frame: frames, self, before, omitted };
  }
}

/** Returns for each node its omitted entry + 1, or 0. */
function omittedBy(from: Columns): Int32Array {
  const result = int32(from.depth.length);
  from.omitted.node.forEach((node, i) => (result[node] = i + 1));
  return result;
}

/**
 * Walks a tree in preorder; `place` says where a node goes: given its frame, its parent's place and its depth, a node of the new tree,
 * or -1 to leave the subtree's values out unless a deeper node has a place.
 */
function rebuilt(from: Columns, ranks: Int32Array, place: (trie: Trie, frame: number, parent: number, depth: number) => number): Columns {
  const trie = new Trie(from.before !== null);
  const omitted = omittedBy(from);
  const path: number[] = [];
  for (let node = 0; node < from.depth.length; node++) {
    const depth = from.depth[node]!;
    const at = place(trie, from.frame[node]!, depth === 0 ? 0 : path[depth - 1]!, depth);
    path[depth] = at;
    if (at < 0) continue;
    trie.add(at, from.self[node]!, older(from.before, node));
    const cut = omitted[node]! - 1;
    if (cut >= 0) trie.omit(at, from.omitted.total[cut]!, older(from.omitted.before, cut), from.omitted.count[cut]!);
  }
  return trie.columns(ranks);
}

function ofThread(from: Columns, ranks: Int32Array, thread: number | null): Columns {
  return rebuilt(from, ranks, (trie, frame, parent, depth) => {
    if (depth === 0) return 0;
    if (depth === 1) return thread === null || frame === thread ? 0 : -1;
    return parent < 0 ? -1 : trie.child(parent, frame);
  });
}

function without(from: Columns, ranks: Int32Array, removed: number[]): Columns {
  const gone = new Set(removed);
  return rebuilt(from, ranks, (trie, frame, parent, depth) => (depth === 0 ? 0 : parent < 0 || gone.has(frame) ? -1 : trie.child(parent, frame)));
}

function focused(from: Columns, ranks: Int32Array, wanted: number): Columns {
  return rebuilt(from, ranks, (trie, frame, parent, depth) => {
    if (depth === 0) return -1;
    if (parent >= 0) return trie.child(parent, frame);
    return frame === wanted ? trie.child(0, frame) : -1;
  });
}

function folded(from: Columns, ranks: Int32Array): Columns {
  return rebuilt(from, ranks, (trie, frame, parent, depth) => (depth === 0 ? 0 : trie.onPath(parent, frame) || trie.child(parent, frame)));
}

/** A value at the end of a path that is read towards the root. */
interface Ends {
  node: number[];
  total: Float64Array;
  before: Float64Array | null;
}

/** Puts the heaviest paths first, so that only the lightest find no room. */
function upwards(from: Columns, ranks: Int32Array, ends: Ends, trie: Trie): Columns {
  const parent = int32(from.depth.length).fill(-1);
  const path: number[] = [];
  for (let node = 0; node < parent.length; node++) {
    const depth = from.depth[node]!;
    if (depth > 0) parent[node] = path[depth - 1]!;
    path[depth] = node;
  }
  const weight = ends.node.map((_, i) => ends.total[i]! + older(ends.before, i));
  const order = int32(ends.node.length).map((_, i) => i).sort((a, b) => weight[b]! - weight[a]! || a - b);
  for (const end of order) {
    let at = 0;
    let node = ends.node[end]!;
    for (; node > 0; node = parent[node]!) {
      const next = trie.child(at, from.frame[node]!);
      if (next < 0) break;
      at = next;
    }
    if (node > 0) trie.omit(at, ends.total[end]!, older(ends.before, end), 0);
    else trie.add(at, ends.total[end]!, older(ends.before, end));
  }
  return trie.columns(ranks);
}

function reversed(from: Columns, ranks: Int32Array): Columns {
  const trie = new Trie(from.before !== null);
  const ends: number[] = [];
  for (let node = 0; node < from.depth.length; node++) if (from.self[node]! > 0 || older(from.before, node) > 0) ends.push(node);
  // The leaves of omitted values are not known, so their blocks are beside all leaves, under the root.
  from.omitted.node.forEach((_, i) => trie.omit(0, from.omitted.total[i]!, older(from.omitted.before, i), from.omitted.count[i]!));
  const values = (column: Float64Array) => Float64Array.from(ends, (node) => column[node]!);
  return upwards(from, ranks, { node: ends, total: values(from.self), before: from.before === null ? null : values(from.before) }, trie);
}

/** Returns the paths to the outermost calls of a frame, each with the whole value of the call. */
function callersOf(from: Columns, ranks: Int32Array, wanted: number): Columns {
  const omitted = omittedBy(from);
  const ends: number[] = [];
  const total: number[] = [];
  const before: number[] = [];
  let inside = -1;
  for (let node = 0; node < from.depth.length; node++) {
    if (inside >= 0 && from.depth[node]! <= inside) inside = -1;
    if (inside < 0) {
      if (from.frame[node] !== wanted) continue;
      inside = from.depth[node]!;
      ends.push(node);
      total.push(0);
      before.push(0);
    }
    const cut = omitted[node]! - 1;
    total[total.length - 1]! += from.self[node]! + (cut < 0 ? 0 : from.omitted.total[cut]!);
    before[before.length - 1]! += older(from.before, node) + (cut < 0 ? 0 : older(from.omitted.before, cut));
  }
  return upwards(from, ranks, { node: ends, total: Float64Array.from(total), before: Float64Array.from(before) }, new Trie(from.before !== null));
}

export function isPlain({ thread, remove, fold, focus, callers, reverse }: Transform): boolean {
  return thread === '' && remove.length === 0 && !fold && focus < 0 && callers < 0 && !reverse;
}

export function transformed(source: Columns, ranks: Int32Array, { thread, remove, fold, focus, callers, reverse }: Transform): Columns {
  let result = source;
  if (thread !== '') result = ofThread(result, ranks, thread === 'all' ? null : Number(thread));
  if (remove.length > 0) result = without(result, ranks, remove);
  if (fold) result = folded(result, ranks);
  if (focus >= 0) result = focused(result, ranks, focus);
  if (callers >= 0) result = callersOf(result, ranks, callers);
  if (reverse) result = reversed(result, ranks);
  return result;
}
