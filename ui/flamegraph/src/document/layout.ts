// SPDX-License-Identifier: Apache-2.0
// Computes the positions of a tree's boxes in flat typed arrays, by one walk without recursion. Runs in the worker and in the page.

export const GROUP = 16;

/** A tree in preorder, from a document or a transform. Node 0 is the root. */
export interface Columns {
  depth: Int32Array;
  /** -1 for the root. */
  frame: Int32Array;
  self: Float64Array;
  /** The older side's self, in a comparison: `self` is then the newer side's. */
  before: Float64Array | null;
  /** The omitted blocks: `count` nodes (0 = not known) with the value `total` were removed under node `node`. */
  omitted: { node: Int32Array; total: Float64Array; before: Float64Array | null; count: Int32Array };
}

/** Both sides of a comparison, by box, each in its own values. */
export interface Sides {
  beforeSelf: Float64Array;
  before: Float64Array;
  afterSelf: Float64Array;
  after: Float64Array;
}

/** Boxes: the nodes, then the omitted blocks, each drawn after its parent's children. */
export interface Layout {
  nodeCount: number;
  boxCount: number;
  maxDepth: number;
  depth: Int32Array;
  frame: Int32Array;
  self: Float64Array;
  total: Float64Array;
  start: Float64Array;
  parent: Int32Array;
  /** By node: the first node after its subtree. */
  end: Int32Array;
  /** By node: its omitted block, or 0. */
  omittedBox: Int32Array;
  omittedCount: Int32Array;
  /** By box: the deepest row under it, omitted blocks included. */
  deepest: Int32Array;
  /** Boxes by depth, each row from left to right; row d is rowBoxes[rowStart[d] .. rowStart[d + 1]). */
  rowBoxes: Int32Array;
  rowStart: Int32Array;
  /**
   * By group of GROUP rowBoxes, so that nobody need visit what is too narrow to see: its sum, and what no box of it is wider than and
   * twice of which no gap in it is; Infinity where it is of two rows or has a box without a value.
   */
  groupTotal: Float64Array;
  groupWidest: Float64Array;
  sides: Sides | null;
}

function spread<T extends Int32Array | Float64Array>(result: T, nodes: ArrayLike<number>, omitted: ArrayLike<number> | null): T {
  result.set(nodes);
  if (omitted !== null) result.set(omitted, nodes.length);
  return result;
}

/** Returns the widths of boxes in a comparison: the mean of both sides, the older one scaled to the newer one's total. */
function mean(after: Float64Array, before: Float64Array, scale: number): Float64Array {
  return after.map((value, box) => (value + before[box]! * scale) / 2);
}

const sum = (values: Float64Array) => values.reduce((all, value) => all + value, 0);

/** Adds each box to its parent, from the last to the first, because children come after their parents. */
function sumUp(total: Float64Array, parent: Int32Array): Float64Array {
  for (let box = total.length - 1; box > 0; box--) total[parent[box]!]! += total[box]!;
  return total;
}

export function layout({ depth, frame, self, before, omitted }: Columns): Layout {
  const nodeCount = depth.length;
  const boxCount = nodeCount + omitted.node.length;
  const ints = () => new Int32Array(boxCount);
  const values = (nodes: Float64Array, blocks: Float64Array | null) => spread(new Float64Array(boxCount), nodes, blocks);
  const result: Layout = {
    nodeCount,
    boxCount,
    maxDepth: 0,
    depth: spread(ints(), depth, null),
    frame: spread(ints(), frame, null).fill(-1, nodeCount),
    self: values(self, null),
    total: values(self, omitted.total),
    start: new Float64Array(boxCount),
    parent: ints(),
    end: new Int32Array(nodeCount),
    omittedBox: new Int32Array(nodeCount),
    // Copied like the other arrays, because a worker gives away the arrays of its answer.
    omittedCount: omitted.count.slice(),
    deepest: ints(),
    rowBoxes: ints(),
    rowStart: new Int32Array(0),
    groupTotal: new Float64Array(boxCount / GROUP + 1),
    groupWidest: new Float64Array(boxCount / GROUP + 1),
    sides: null,
  };
  if (before === null) place(result, omitted.node);
  else {
    const older = values(before, omitted.before);
    const sides = { beforeSelf: values(before, null), before: older, afterSelf: result.self, after: result.total };
    const scale = sum(older) > 0 && sum(sides.after) > 0 ? sum(sides.after) / sum(older) : 1;
    result.self = mean(result.self, sides.beforeSelf, scale);
    result.total = mean(result.total, older, scale);
    place(result, omitted.node);
    sumUp(older, result.parent);
    sumUp(sides.after, result.parent);
    result.sides = sides;
  }
  return result;
}

/** Returns the start of each row, from the number of boxes in each. */
function rowsOf(depth: Int32Array): Int32Array {
  const sizes: number[] = [];
  for (let box = 0; box < depth.length; box++) sizes[depth[box]!] = (sizes[depth[box]!] ?? 0) + 1;
  const result = new Int32Array(sizes.length + 1);
  sizes.forEach((size, row) => (result[row + 1] = result[row]! + size));
  return result;
}

/** Computes the layout from depths and own values, in one walk: a node is complete when the walk leaves it, with its omitted block after its last child. */
function place(to: Layout, omittedNodes: Int32Array): void {
  const { depth, parent, end, total, start, deepest, omittedBox, rowBoxes, groupTotal, groupWidest, nodeCount } = to;
  omittedNodes.forEach((node, i) => {
    const box = nodeCount + i;
    omittedBox[node] = box;
    parent[box] = node;
    depth[box] = deepest[box] = depth[node]! + 1;
  });
  const rowStart = (to.rowStart = rowsOf(depth));
  const rows = rowStart.length;
  to.maxDepth = rows - 2;
  const filled = rowStart.slice();
  const path = new Int32Array(rows);
  // By row: the end of its last box, and the start of the open node's next child.
  const rowEnd = new Float64Array(rows);
  const cursor = new Float64Array(rows);
  let open = 0;
  const put = (box: number, row: number) => {
    const at = filled[row]!++;
    const group = Math.floor(at / GROUP);
    const inGroup = at % GROUP > 0;
    const value = total[box]!;
    const from = start[box]!;
    rowBoxes[at] = box;
    groupTotal[group]! += value;
    const widest = value === 0 || (inGroup && at === rowStart[row]) ? Infinity : inGroup ? Math.max(value, (from - rowEnd[row]!) / 2) : value;
    if (widest > groupWidest[group]!) groupWidest[group] = widest;
    rowEnd[row] = from + value;
  };
  /** Adds a complete box to the open node above it. */
  const add = (box: number, above: number, row: number) => {
    put(box, row);
    total[above]! += total[box]!;
    if (deepest[box]! > deepest[above]!) deepest[above] = deepest[box]!;
  };
  const leave = (level: number, next: number) => {
    while (open > level) {
      const node = path[--open]!;
      const cut = omittedBox[node]!;
      if (cut > 0) {
        start[cut] = cursor[open]!;
        add(cut, node, open + 1);
      }
      end[node] = next;
      if (open > 0) {
        add(node, path[open - 1]!, open);
        cursor[open - 1] = rowEnd[open]!;
      }
    }
  };
  parent[0] = -1;
  for (let node = 0; node < nodeCount; node++) {
    const at = depth[node]!;
    leave(at, node);
    if (at > 0) {
      parent[node] = path[at - 1]!;
      start[node] = cursor[at - 1]!;
    }
    deepest[node] = at;
    cursor[at] = start[node]!;
    path[at] = node;
    open = at + 1;
  }
  leave(0, nodeCount);
  put(0, 0);
}

/** Returns the buffers that are moved, rather than copied, between worker and page. */
export function buffers(value: Layout): ArrayBufferLike[] {
  const found = new Set<ArrayBufferLike>();
  for (const part of [...Object.values(value), ...Object.values(value.sides ?? {})] as unknown[]) {
    if (ArrayBuffer.isView(part)) found.add(part.buffer);
  }
  return [...found];
}
