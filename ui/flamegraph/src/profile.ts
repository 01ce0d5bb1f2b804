// One flame graph as flat typed arrays. Nodes 0..nodeCount-1 are the document's nodes in preorder; the boxes from nodeCount on are
// the omitted blocks, each drawn after its parent's children.
import { frameName, visibleText } from './text.ts';

export const KINDS = ['java', 'native', 'jvm', 'kernel', 'unknown'] as const;

export interface ProfileData {
  type: string;
  unit: string;
  rawTotal: string;
  valueTotal: string;
  samples: number;
  strings: string[];
  frames: { cls: Int32Array; method: Int32Array; file: Int32Array; line: Int32Array; kind: Int32Array };
  nodes: { depth: Int32Array; frame: Int32Array; self: Float64Array; total: Float64Array };
  omitted: { node: Int32Array; total: Float64Array; count: Int32Array };
}

export class Profile {
  readonly type: string;
  readonly unit: string;
  readonly rawTotal: string;
  readonly valueTotal: string;
  readonly samples: number;

  /** Number of nodes; boxes from here on are omitted blocks. */
  readonly nodeCount: number;
  readonly boxCount: number;
  readonly maxDepth: number;

  // By box.
  readonly depth: Int32Array;
  readonly frame: Int32Array;
  readonly self: Float64Array;
  readonly total: Float64Array;
  readonly start: Float64Array;
  readonly parent: Int32Array;
  /** By node: the first node behind its subtree. */
  readonly end: Int32Array;

  /** Boxes by depth, each row from left to right; row d is rowBoxes[rowStart[d] .. rowStart[d + 1]). */
  readonly rowBoxes: Int32Array;
  readonly rowStart: Int32Array;

  readonly frameCount: number;
  private readonly data: ProfileData;
  private readonly omittedUnder = new Map<number, number>();
  private readonly labels: (string | undefined)[] = [];
  private overfull = -1;

  constructor(data: ProfileData) {
    this.data = data;
    this.type = data.type;
    this.unit = data.unit;
    this.rawTotal = data.rawTotal;
    this.valueTotal = data.valueTotal;
    this.samples = data.samples;
    const nodes = data.nodes.depth.length;
    const boxes = nodes + data.omitted.node.length;
    this.nodeCount = nodes;
    this.boxCount = boxes;
    this.frameCount = data.frames.cls.length;
    this.depth = new Int32Array(boxes);
    this.depth.set(data.nodes.depth);
    this.frame = new Int32Array(boxes).fill(-1);
    this.frame.set(data.nodes.frame);
    this.self = new Float64Array(boxes);
    this.self.set(data.nodes.self);
    this.total = new Float64Array(boxes);
    this.total.set(data.nodes.total);
    this.start = new Float64Array(boxes);
    this.parent = new Int32Array(boxes).fill(-1);
    this.end = new Int32Array(nodes);
    data.omitted.node.forEach((node, i) => {
      this.omittedUnder.set(node, nodes + i);
      this.depth[nodes + i] = this.depth[node]! + 1;
      this.parent[nodes + i] = node;
      this.total[nodes + i] = data.omitted.total[i]!;
    });
    this.maxDepth = this.depth.reduce((max, depth) => Math.max(max, depth), 0);
    this.rowStart = new Int32Array(this.maxDepth + 2);
    this.rowBoxes = new Int32Array(boxes);
    this.countRows();
    this.place();
  }

  private countRows(): void {
    for (let box = 0; box < this.boxCount; box++) this.rowStart[this.depth[box]! + 1]!++;
    for (let row = 0; row <= this.maxDepth; row++) this.rowStart[row + 1]! += this.rowStart[row]!;
  }

  /** Gives each box its place: one walk in preorder, with the path to the current node as stack. */
  private place(): void {
    const filled = this.rowStart.slice();
    const path = new Int32Array(this.maxDepth + 2);
    const cursor = new Float64Array(this.maxDepth + 2);
    let open = 0;
    const put = (box: number, parentDepth: number) => {
      this.start[box] = cursor[parentDepth]!;
      cursor[parentDepth]! += this.total[box]!;
      this.rowBoxes[filled[this.depth[box]!]!++] = box;
    };
    const closeTo = (depth: number, next: number) => {
      for (; open > depth; open--) {
        const level = open - 1;
        const node = path[level]!;
        const omitted = this.omittedUnder.get(node);
        if (omitted !== undefined) put(omitted, level);
        this.end[node] = next;
        this.checkParts(node, cursor[level]! - this.start[node]!);
      }
    };
    for (let node = 0; node < this.nodeCount; node++) {
      const depth = this.depth[node]!;
      closeTo(depth, node);
      if (depth === 0) this.rowBoxes[filled[0]!++] = node;
      else {
        this.parent[node] = path[depth - 1]!;
        put(node, depth - 1);
      }
      path[depth] = node;
      cursor[depth] = this.start[node]!;
      open = depth + 1;
    }
    closeTo(0, this.nodeCount);
  }

  private checkParts(node: number, below: number): void {
    const total = this.total[node]!;
    if (this.self[node]! + below > total * (1 + 1e-9) + 0.5 && this.overfull < 0) this.overfull = node;
  }

  /** A node whose parts exceed it, or -1: a document to refuse. */
  overfullNode(): number {
    return this.overfull;
  }

  isOmitted(box: number): boolean {
    return box >= this.nodeCount;
  }

  /** How many nodes an omitted block stands for. */
  omittedNodes(box: number): number {
    return this.isOmitted(box) ? this.data.omitted.count[box - this.nodeCount]! : 0;
  }

  kind(box: number): number {
    const frame = this.frame[box]!;
    return frame < 0 ? 4 : this.data.frames.kind[frame]!;
  }

  frameKind(frame: number): number {
    return this.data.frames.kind[frame]!;
  }

  /** `com.acme.Cart.total`, made safe to show. */
  frameLabel(frame: number): string {
    return (this.labels[frame] ??= visibleText(this.nameWithClass(frame, this.frameClass(frame))));
  }

  private nameWithClass(frame: number, cls: string): string {
    const { frames, strings } = this.data;
    return frameName(frames.kind[frame] === 0, cls, strings[frames.method[frame]!]!, frames.line[frame]);
  }

  /** The class, or for frames of other kinds the library, as it stands in the document. */
  frameClass(frame: number): string {
    return this.data.strings[this.data.frames.cls[frame]!]!;
  }

  /** The label without the package, or for frames of other kinds without the library: `Cart.total`. */
  frameShortLabel(frame: number): string {
    if (this.data.frames.kind[frame] !== 0) return this.frameMethod(frame);
    const cls = this.frameClass(frame);
    return visibleText(this.nameWithClass(frame, cls.slice(cls.lastIndexOf('.', cls.length - 2) + 1)));
  }

  /** The method alone: `total`. */
  frameMethod(frame: number): string {
    return visibleText(this.nameWithClass(frame, ''));
  }

  label(box: number): string {
    if (this.isOmitted(box)) return `\u2026 ${this.omittedNodes(box)} omitted frames`;
    const frame = this.frame[box]!;
    return frame < 0 ? 'all' : this.frameLabel(frame);
  }

  /** `Cart.java:42`, `Cart.java` or an empty string. */
  source(box: number): string {
    const frame = this.frame[box]!;
    if (frame < 0) return '';
    const { frames, strings } = this.data;
    const file = visibleText(strings[frames.file[frame]!]!);
    const line = frames.line[frame]!;
    return file === '' || line === 0 ? file : `${file}:${line}`;
  }

  /** Child boxes from left to right, the omitted block last. */
  children(box: number): number[] {
    if (this.isOmitted(box)) return [];
    const result: number[] = [];
    for (let node = box + 1; node < this.end[box]!; node = this.end[node]!) result.push(node);
    const omitted = this.omittedUnder.get(box);
    if (omitted !== undefined) result.push(omitted);
    return result;
  }

  /** The boxes from the root to this one. */
  ancestry(box: number): number[] {
    const path: number[] = [];
    for (let at = box; at >= 0; at = this.parent[at]!) path.push(at);
    return path.reverse();
  }

  /** What a box is called in any document: its frames from the root, to find it again in the next one. */
  pathOf(box: number): string[] {
    return this.ancestry(box).slice(1).map((at) => this.key(at));
  }

  private key(box: number): string {
    const frame = this.frame[box]!;
    if (frame < 0) return 'omitted';
    const { frames, strings } = this.data;
    return [frames.kind[frame], strings[frames.cls[frame]!], strings[frames.method[frame]!], frames.line[frame]].join('\u0000');
  }

  /** The box of a path, or the nearest ancestor that this profile has. */
  findPath(path: string[]): number {
    let at = 0;
    for (const key of path) {
      const next = this.children(at).find((child) => this.key(child) === key);
      if (next === undefined) return at;
      at = next;
    }
    return at;
  }

  /** The deepest row under a box, omitted blocks included. */
  deepestUnder(box: number): number {
    if (box === 0 || this.isOmitted(box)) return box === 0 ? this.maxDepth : this.depth[box]!;
    let deepest = this.depth[box]!;
    for (let node = box; node < this.end[box]!; node++) {
      const depth = this.depth[node]! + (this.omittedUnder.has(node) ? 1 : 0);
      if (depth > deepest) deepest = depth;
    }
    return deepest;
  }
}
