// Reader of packed flame graphs, version 3 (docs/formats/flamegraph-packed.md): what an exporter puts into a page. As hostile as any
// other input: everything is checked before anything is drawn. Runs in the worker.
import type { FrameColumns } from './frames.ts';
import type { Cells, HeatKitchen } from './heat.ts';
import type { Columns } from './layout.ts';
import type { Head } from './profile.ts';

const MAX_NODES = 4_000_000;
const MAX_DEPTH = 65_535;
/** Slots of the table that foretells the next frame. */
const SLOTS = 1 << 16;

export type Json = Record<string, unknown>;

/** One method of a comparison. Shares are parts per billion. */
export interface Change {
  frame: number;
  before: number;
  after: number;
  /** Where the change lies with the confidence that the document names; null = there were too few windows to tell. */
  low: number | null;
  high: number | null;
}

export interface PackedProfile {
  head: Head;
  columns: Columns;
  changes: Change[];
  cells: Cells | null;
}

export interface PackedDocument {
  frames: FrameColumns;
  /** The first row of frames holds threads. */
  threads: boolean;
  profiles: PackedProfile[];
  meta: Json;
}

export function refuse(what: string): never {
  throw new Error(what);
}

export function list(value: unknown, what: string): unknown[] {
  return Array.isArray(value) ? value : refuse(`${what} is not a list`);
}

export function integer(value: unknown, max: number, what: string): number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max ? (value as number) : refuse(`${what} is not an integer from 0 to ${max}`);
}

export function text(value: unknown, what: string): string {
  return typeof value === 'string' ? value : refuse(`${what} is not a text`);
}

/** Numbers written with 90 printable characters. */
export class Digits {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly what: string,
  ) {}

  private digit(): number {
    const code = this.text.charCodeAt(this.at++);
    // '<' and '\' are no digits; behind the end the code is NaN.
    if (!(code >= 0x23 && code <= 0x7e) || code === 0x3c || code === 0x5c) refuse(`${this.what} is damaged at ${this.at - 1}`);
    return code - 0x23 - (code > 0x3c ? 1 : 0) - (code > 0x5c ? 1 : 0);
  }

  next(): number {
    const first = this.digit();
    if (first < 70) return first;
    if (first < 85) return 70 + (first - 70) * 90 + this.digit();
    if (first < 89) return 1420 + (first - 85) * 8100 + this.digit() * 90 + this.digit();
    let value = 0;
    for (let left = this.digit(); left > 0; left--) value = value * 90 + this.digit();
    return value;
  }

  /** A number up to `max`. */
  upTo(max: number): number {
    const value = this.next();
    return value <= max ? value : refuse(`${this.what} has ${value}, more than ${max}, at ${this.at}`);
  }

  end(): void {
    if (this.at !== this.text.length) refuse(`${this.what} does not end at ${this.at}`);
  }
}

/** Where the class of a Java name ends, unless the document says otherwise. */
function classOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('.')));
}

function readFrames(source: Json, names: string[]): FrameColumns {
  const strings = [''];
  const groups = list(source['groups'], 'groups');
  const runs = new Digits(text(source['runs'], 'runs'), 'runs');
  const classes = new Map<number, string>();
  const pairs = (key: string) => {
    const flat = list(source[key] ?? [], key);
    return Array.from({ length: flat.length >> 1 }, (_, i) => [integer(flat[2 * i], names.length - 1, key), text(flat[2 * i + 1], key)] as const);
  };
  for (const [name, cls] of pairs('classes')) classes.set(name, cls);
  let group = 0;
  let left = 0;
  const parts = names.map((name, i) => {
    if (left-- === 0) {
      group = 2 * runs.next();
      left = runs.upTo(names.length - 1 - i);
    }
    const kind = integer(groups[group], 4, 'groups');
    const cls = kind > 0 ? text(groups[group + 1], 'groups') : (classes.get(i) ?? classOf(name));
    return [cls === '' ? 0 : strings.push(cls) - 1, strings.push(kind > 0 || cls === '' ? name : name.slice(cls.length + 1)) - 1, 0, kind];
  });
  runs.end();
  for (const [name, file] of pairs('files')) parts[name]![2] = strings.push(file) - 1;
  const flat = source['frames'] === undefined ? parts.flatMap((_, i) => [i, 0]) : list(source['frames'], 'frames');
  const count = flat.length >> 1;
  const column = (part: number) => Int32Array.from({ length: count }, (_, i) => parts[integer(flat[2 * i], names.length - 1, 'frames')]![part]!);
  return { strings, cls: column(0), method: column(1), file: column(2), kind: column(3), line: Int32Array.from({ length: count }, (_, i) => integer(flat[2 * i + 1], 0x7fffffff, 'frames')) };
}

/** How many frames the trees have named until here. */
interface Seen {
  frames: number;
}

/** The tree: per stack, how far to go back up, the frames that are new, and the value at their end. */
function readTree(source: Json, frames: number, seen: Seen, compares: boolean): Omit<Columns, 'omitted'> {
  const count = integer(source['nodes'], MAX_NODES, 'nodes');
  const scale = integer(source['scale'], Number.MAX_SAFE_INTEGER, 'scale');
  const digits = new Digits(text(source['tree'], 'tree'), 'the tree');
  const depth = new Int32Array(count);
  const frame = new Int32Array(count);
  const self = new Float64Array(count);
  const before = compares ? new Float64Array(count) : null;
  const foretold = new Int32Array(SLOTS);
  const last = new Float64Array(frames);
  // The frames from the root on; `open` of them count.
  const path = new Int32Array(Math.min(count, MAX_DEPTH + 1));
  let open = 1;
  path[0] = -1;
  if (count < 1) refuse('the tree has no root');
  const value = (leaf: number): number => {
    const code = digits.next();
    if (code === 0 && leaf >= 0) return last[leaf]! * scale;
    if (leaf >= 0) last[leaf] = code - 1;
    return Math.max(0, code - 1) * scale;
  };
  const values = (node: number, leaf: number) => {
    self[node] = value(compares ? -1 : leaf);
    if (before !== null) before[node] = value(-1);
  };
  frame[0] = -1;
  values(0, -1);
  for (let node = 1; node < count; ) {
    const up = digits.upTo(open - 1);
    const fresh = digits.upTo(Math.min(count - node, MAX_DEPTH - open + 1 + up));
    if (fresh === 0) refuse('the tree has a stack without an end');
    // Behind which sibling the new branch stands: the node that the path is left at.
    let behind = up === 0 ? -1 : path[open - up]!;
    open -= up;
    let hits = -1;
    for (let i = 0; i < fresh; i++) {
      if (hits < 0) hits = digits.upTo(fresh - i);
      const slot = (Math.imul(path[open - 1]! + 1, 0x9e3779b1) + Math.imul(behind + 1, 0x85ebca77)) >>> 16;
      const code = hits-- > 0 ? foretold[slot]! : digits.next();
      const next = code > 0 ? code - 1 : seen.frames++;
      if (next >= frames) refuse(`the tree names frame ${next} of ${frames}`);
      foretold[slot] = next + 1;
      depth[node] = open;
      frame[node++] = path[open++] = next;
      behind = -1;
    }
    values(node - 1, path[open - 1]!);
  }
  digits.end();
  return { depth, frame, self, before };
}

function readOmitted(source: Json, nodes: number, compares: boolean): Columns['omitted'] {
  const scale = integer(source['scale'], Number.MAX_SAFE_INTEGER, 'scale');
  const count = integer(source['omitted_nodes'] ?? 0, nodes, 'omitted_nodes');
  const digits = new Digits(text(source['omitted'] ?? '', 'omitted'), 'the omitted');
  const result = { node: new Int32Array(count), total: new Float64Array(count), before: compares ? new Float64Array(count) : null, count: new Int32Array(count) };
  let node = -1;
  for (let i = 0; i < count; i++) {
    node += digits.upTo(nodes - 1 - node);
    if (i > 0 && node === result.node[i - 1]) refuse('a node has omitted parts twice');
    if (node < 0) refuse('omitted parts without a node');
    result.node[i] = node;
    result.total[i] = digits.next() * scale;
    if (result.before !== null) result.before[i] = digits.next() * scale;
    result.count[i] = digits.upTo(0x7fffffff);
  }
  digits.end();
  return result;
}

function readChanges(source: Json, frames: number): Change[] {
  const number = (value: unknown) => (typeof value === 'number' ? value : refuse('a change is not a number'));
  return list(source['changes'] ?? [], 'changes').map((row) => {
    const [frame, before, after, low, high] = list(row, 'changes');
    return {
      frame: integer(frame, frames - 1, 'changes'),
      before: number(before),
      after: number(after),
      low: low === undefined ? null : number(low),
      high: high === undefined ? null : number(high),
    };
  });
}

function readProfile(value: unknown, frames: number, seen: Seen, heat: HeatKitchen | null): PackedProfile {
  const source = value as Json;
  const decimal = (key: string) => {
    const digits = text(source[key], key);
    return /^\d{1,40}$/.test(digits) ? digits : refuse(`${key} is not a decimal text`);
  };
  const compares = !import.meta.env.SLIM && source['compares'] === true;
  const tree = readTree(source, frames, seen, compares);
  const columns = { ...tree, omitted: readOmitted(source, tree.depth.length, compares) };
  return {
    head: {
      type: text(source['type'], 'type'),
      unit: text(source['unit'], 'unit'),
      rawTotal: decimal('raw_total'),
      valueTotal: decimal('value_total'),
      samples: integer(source['samples'], Number.MAX_SAFE_INTEGER, 'samples'),
    },
    columns,
    changes: import.meta.env.SLIM ? [] : readChanges(source, frames),
    cells: heat?.read(source, columns) ?? null,
  };
}

/** Parses and checks a document; its cells only with what knows about them. Throws an Error that says what is wrong. */
export function readPacked(document: string, heat: HeatKitchen | null = null): PackedDocument {
  // One line of JSON, then a name a line: the inside of a JSON string.
  const [json, ...lines] = document.split('\n');
  const source = JSON.parse(json!) as Json;
  if (source?.['version'] !== 3) refuse('this is no packed flame graph of version 3');
  const frames = readFrames(
    source,
    lines.map((line) => JSON.parse(`"${line}"`) as string),
  );
  const seen = { frames: 0 };
  const profiles = list(source['profiles'], 'profiles');
  if (profiles.length === 0) refuse('there is no profile in it');
  const meta = source['meta'];
  return {
    frames,
    threads: source['threads'] === true,
    profiles: profiles.map((profile) => readProfile(profile, frames.cls.length, seen, heat)),
    meta: typeof meta === 'object' && meta !== null && !Array.isArray(meta) ? (meta as Json) : {},
  };
}
