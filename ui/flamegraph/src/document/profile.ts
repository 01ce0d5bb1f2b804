// SPDX-License-Identifier: Apache-2.0
// One flame graph: its totals, its frames and the positions of its boxes. Boxes 0..nodeCount-1 are nodes in preorder; the boxes from
// nodeCount on are the omitted blocks, each drawn after its parent's children.
import type { Frames } from './frames.ts';
import type { Columns, Layout } from './layout.ts';

/** One method of a comparison. Shares are parts per billion. */
export interface Change {
  frame: number;
  before: number;
  after: number;
  /** Where the change lies with a probability of 99 %; null = there were too few windows to tell. */
  low: number | null;
  high: number | null;
}

/** The facts about a profile in a document, without its tree. */
export interface Head {
  type: string;
  unit: string;
  rawTotal: string;
  valueTotal: string;
  samples: number;
  /** The changes, in a comparison. */
  changes?: Change[];
}

export interface Profile extends Readonly<Head>, Readonly<Layout> {}

export class Profile {
  constructor(
    readonly head: Head,
    readonly frames: Frames,
    place: Layout,
  ) {
    Object.assign(this, head, place);
  }

  get frameCount(): number {
    return this.frames.count;
  }

  isOmitted(box: number): boolean {
    return box >= this.nodeCount;
  }

  /** Returns the number of nodes in an omitted block; 0 = not known. */
  omittedNodes(box: number): number {
    return this.isOmitted(box) ? this.omittedCount[box - this.nodeCount]! : 0;
  }

  kind(box: number): number {
    const frame = this.frame[box]!;
    return frame < 0 ? 4 : this.frames.kind(frame);
  }

  label(box: number): string {
    if (this.isOmitted(box)) return `\u2026 ${this.omittedNodes(box) || 'more'} omitted frames`;
    const frame = this.frame[box]!;
    return frame < 0 ? 'all' : this.frames.label(frame);
  }

  /** Returns `Cart.java:42`, `Cart.java` or an empty string. */
  source(box: number): string {
    const frame = this.frame[box]!;
    return frame < 0 ? '' : this.frames.source(frame);
  }

  /** Returns the child boxes from left to right, the omitted block last. */
  children(box: number): number[] {
    if (this.isOmitted(box)) return [];
    const result: number[] = [];
    for (let node = box + 1; node < this.end[box]!; node = this.end[node]!) result.push(node);
    if (this.omittedBox[box]! > 0) result.push(this.omittedBox[box]!);
    return result;
  }

  /** Returns the boxes from the root to this one. */
  ancestry(box: number): number[] {
    const path: number[] = [];
    for (let at = box; at >= 0; at = this.parent[at]!) path.push(at);
    return path.reverse();
  }

  /** Returns a box's path of frame keys from the root, which finds the same box in the next document. */
  pathOf(box: number): string[] {
    return this.ancestry(box).slice(1).map((at) => this.key(at));
  }

  private key(box: number): string {
    const frame = this.frame[box]!;
    return frame < 0 ? 'omitted' : this.frames.key(frame);
  }

  /** Returns the box of a path, or the nearest ancestor that this profile has. */
  findPath(path: string[]): number {
    let at = 0;
    for (const key of path) {
      const next = this.children(at).find((child) => this.key(child) === key);
      if (next === undefined) return at;
      at = next;
    }
    return at;
  }

  /** Returns the tree without its layout. */
  columns(): Columns {
    const { nodeCount: nodes, boxCount } = this;
    const sides = this.sides;
    const node = new Int32Array(boxCount - nodes);
    for (let i = 0; i < node.length; i++) node[i] = this.parent[nodes + i]!;
    return {
      depth: this.depth.slice(0, nodes),
      frame: this.frame.slice(0, nodes),
      self: (sides?.afterSelf ?? this.self).slice(0, nodes),
      before: sides?.beforeSelf.slice(0, nodes) ?? null,
      omitted: { node, total: (sides?.after ?? this.total).slice(nodes), before: sides?.before.slice(nodes) ?? null, count: this.omittedCount.slice() },
    };
  }

  /** Returns the deepest row under a box, omitted blocks included. */
  deepestUnder(box: number): number {
    return this.deepest[box]!;
  }
}
