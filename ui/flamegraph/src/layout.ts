// Where the boxes of a tree stand: flat typed arrays, made by one walk without recursion. Runs in the worker and in the page.

export const GROUP = 16;

/** A tree in preorder: what documents hold and what transforms make. Node 0 is the root. */
export interface Columns {
  depth: Int32Array;
  /** -1 for the root. */
  frame: Int32Array;
  self: Float64Array;
  /** The older side's self, in a comparison: `self` is then the newer side's. */
  before: Float64Array | null;
  /** What was cut away: under node `node` there were `count` nodes (0 = not known) worth `total`. */
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
  /** By node: the first node behind its subtree. */
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

/** Adds each box to its parent, from the last to the first: children stand behind their parents. */
function sumUp(total: Float64Array, parent: Int32Array): void {
  for (let box = total.length - 1; box > 0; box--) total[parent[box]!]! += total[box]!;
}

/** The value that boxes are as wide as: of a comparison the mean of both sides, the older one scaled to the newer one's total. */
function mean(after: Float64Array, before: Float64Array, scale: number): Float64Array {
  return after.map((value, box) => (value + before[box]! * scale) / 2);
}

export function layout({ depth, frame, self, before, omitted }: Columns): Layout {
  const nodeCount = depth.length;
  const boxCount = nodeCount + omitted.node.length;
  const result: Layout = {
    nodeCount,
    boxCount,
    maxDepth: 0,
    depth: spread(new Int32Array(boxCount), depth, null),
    frame: spread(new Int32Array(boxCount).fill(-1), frame, null),
    self: spread(new Float64Array(boxCount), self, null),
    total: spread(new Float64Array(boxCount), self, omitted.total),
    start: new Float64Array(boxCount),
    parent: new Int32Array(boxCount).fill(-1),
    end: new Int32Array(nodeCount),
    omittedBox: new Int32Array(nodeCount),
    // Copied as all else is: what a worker answers with leaves it.
    omittedCount: omitted.count.slice(),
    deepest: new Int32Array(0),
    rowBoxes: new Int32Array(boxCount),
    rowStart: new Int32Array(0),
    groupTotal: new Float64Array(boxCount / GROUP + 1),
    groupWidest: new Float64Array(boxCount / GROUP + 1),
    sides: null,
  };
  link(result, omitted.node);
  sumUp(result.total, result.parent);
  if (!import.meta.env.SLIM && before !== null) {
    const older = spread(new Float64Array(boxCount), before, omitted.before);
    const beforeSelf = spread(new Float64Array(boxCount), before, null);
    sumUp(older, result.parent);
    result.sides = { beforeSelf, before: older, afterSelf: result.self, after: result.total };
    const scale = older[0]! > 0 && result.total[0]! > 0 ? result.total[0]! / older[0]! : 1;
    result.self = mean(result.self, beforeSelf, scale);
    result.total = mean(result.total, older, scale);
  }
  place(result);
  return result;
}

/** Parents, ends of subtrees, omitted blocks, deepest rows and row sizes. */
function link(to: Layout, omittedNodes: Int32Array): void {
  const { depth, parent, end, nodeCount, boxCount } = to;
  const path: number[] = [];
  let open = 0;
  for (let node = 0; node < nodeCount; node++) {
    const at = depth[node]!;
    while (open > at) end[path[--open]!] = node;
    if (at > 0) parent[node] = path[at - 1]!;
    path[at] = node;
    open = at + 1;
  }
  while (open > 0) end[path[--open]!] = nodeCount;
  for (let i = 0; i < omittedNodes.length; i++) {
    const node = omittedNodes[i]!;
    to.omittedBox[node] = nodeCount + i;
    depth[nodeCount + i] = depth[node]! + 1;
    parent[nodeCount + i] = node;
  }
  const deepest = (to.deepest = depth.slice());
  for (let box = boxCount - 1; box > 0; box--) {
    const above = parent[box]!;
    if (deepest[box]! > deepest[above]!) deepest[above] = deepest[box]!;
  }
  to.maxDepth = deepest[0]!;
  const rowStart = (to.rowStart = new Int32Array(to.maxDepth + 2));
  for (let box = 0; box < boxCount; box++) rowStart[depth[box]! + 1]!++;
  for (let row = 0; row <= to.maxDepth; row++) rowStart[row + 1]! += rowStart[row]!;
}

/** Starts of boxes, the order of rows, and their groups. An omitted block follows the last child of its node. */
function place({ depth, parent, total, start, omittedBox, rowBoxes, rowStart, groupTotal, groupWidest, nodeCount, maxDepth }: Layout): void {
  const filled = rowStart.slice();
  const path = new Int32Array(maxDepth + 2);
  const cursor = new Float64Array(maxDepth + 2);
  // Where the last box of each row ends.
  const rowEnd = new Float64Array(maxDepth + 2);
  let open = 0;
  const put = (box: number, level: number) => {
    const row = level + 1;
    const at = filled[row]!++;
    const group = Math.floor(at / GROUP);
    const value = total[box]!;
    const from = cursor[level]!;
    start[box] = from;
    cursor[level] = from + value;
    rowBoxes[at] = box;
    const inGroup = at % GROUP > 0;
    groupTotal[group]! += value;
    const widest = value === 0 || (inGroup && at === rowStart[row]) ? Infinity : inGroup ? Math.max(value, (from - rowEnd[row]!) / 2) : value;
    if (widest > groupWidest[group]!) groupWidest[group] = widest;
    rowEnd[row] = from + value;
  };
  const closeTo = (level: number) => {
    while (open > level) {
      const omitted = omittedBox[path[--open]!]!;
      if (omitted > 0) put(omitted, open);
    }
  };
  for (let node = 0; node < nodeCount; node++) {
    const at = depth[node]!;
    closeTo(at);
    if (parent[node]! >= 0) put(node, at - 1);
    path[at] = node;
    cursor[at] = start[node]!;
    open = at + 1;
  }
  closeTo(0);
}

/** What moves, rather than is copied, between worker and page. */
export function buffers(value: Layout): ArrayBufferLike[] {
  const found = new Set<ArrayBufferLike>();
  for (const part of [...Object.values(value), ...Object.values(value.sides ?? {})] as unknown[]) {
    if (ArrayBuffer.isView(part)) found.add(part.buffer);
  }
  return [...found];
}
