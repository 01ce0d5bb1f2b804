// SPDX-License-Identifier: Apache-2.0
// Reader of packed flame graphs, version 4 (docs/formats/flamegraph-packed.md): what an exporter puts into a page. As hostile as any
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
  cells: Cells | null;
}

export interface PackedDocument {
  frames: FrameColumns;
  /** The first row of frames holds threads. */
  threads: boolean;
  /** The types of its profiles. */
  types: string[];
  /** For recordingInfo. */
  meta: unknown[];
  /** Profile number `at`. It is decoded when it is first asked for, and those before it with it. Throws an Error that says what is wrong. */
  profile(at: number): PackedProfile;
}

export function refuse(what: string): never {
  throw new Error(what);
}

export function list(value: unknown, what: string): unknown[] {
  return Array.isArray(value) ? value : refuse(`${what} is no list`);
}

export function integer(value: unknown, max: number, what: string): number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max ? (value as number) : refuse(`${what} is no integer from 0 to ${max}`);
}

export function text(value: unknown, what: string): string {
  return typeof value === 'string' ? value : refuse(`${what} is no text`);
}

/** The range of a code is kept between LEAST and 90 LEAST. */
const LEAST = 90 ** 3;
/** A 0 has odds of so many, a power of two. */
const ODDS_BITS = 13;
/** A bit moves the odds by a half, then by less and less, down to 2^-5. */
const SLOWEST = 5;
/** Places that a context takes, and contexts that a document has; cells have fewer. */
const PLACES = 592;
const CONTEXTS = 12;
export const PLAIN = 0;
const GROUP = 1; // and 2 and 3
const UP = 4;
const SELF = 5;
const BEFORE = 6;
const GAP = 7;
const CUT_VALUE = 8;
const CUT_BEFORE = 9;
const CUT_NODES = 10;
/** Places of single bits. */
const FORETOLD = 11 * PLACES;
const ENDED = FORETOLD + 2;
const NEW = FORETOLD + 4;

/** Numbers, each as short as it was likely until then, in 90 printable characters. */
export class Code {
  private at = 0;
  private range = 90 * LEAST;
  private offset = 0;
  private readonly odds = new Int32Array(CONTEXTS * PLACES);
  private readonly met = new Int32Array(CONTEXTS * PLACES);

  constructor(private readonly text: string) {
    while (this.at < 4) this.shift();
  }

  damaged(): never {
    refuse(`damaged code at ${this.at}`);
  }

  private shift(): void {
    // Behind the end are zeros.
    const code = this.text.charCodeAt(this.at) || 0x23;
    // '<' and '\' are no digits.
    if (code < 0x23 || code > 0x7e || code === 0x3c || code === 0x5c || this.at++ > this.text.length + 2) this.damaged();
    this.offset = this.offset * 90 + code - 0x23 - (code > 0x3c ? 1 : 0) - (code > 0x5c ? 1 : 0);
  }

  bit(place: number): boolean {
    const odds = this.odds[place]! || 1 << (ODDS_BITS - 1);
    const bound = (this.range >> ODDS_BITS) * odds;
    const pace = Math.min(31 - Math.clz32(this.met[place]!++ + 3), SLOWEST);
    const bit = this.offset >= bound;
    this.odds[place] = bit ? odds - (odds >> pace) : odds + (((1 << ODDS_BITS) - odds) >> pace);
    if (bit) this.offset -= bound;
    this.fit(bit ? this.range - bound : bound);
    return bit;
  }

  private fit(range: number): void {
    for (; range < LEAST; range *= 90) this.shift();
    this.range = range;
  }

  /** The bits behind `value`, all as likely. */
  private plain(value: number, count: number): number {
    if (count > 12) return this.plain(this.plain(value, 12), count - 12);
    const part = this.range >> count;
    const bits = (this.offset / part) | 0;
    if (bits >> count) this.damaged();
    this.offset -= bits * part;
    this.fit(part);
    return value * (1 << count) + bits;
  }

  /** A number below `end`, all as likely. */
  below(end: number): number {
    return this.plain(0, end > 1 ? 32 - Math.clz32(end - 1) : 0);
  }

  next(context: number): number {
    const base = context * PLACES;
    let fours = 0;
    while (this.bit(base + fours)) if (++fours > 15) this.damaged();
    const which = base + 16 + fours * 4;
    const high = +this.bit(which + 1);
    let left = fours * 4 + high * 2 + +this.bit(which + 2 + high);
    const digits = base + 80 + left * 8;
    let value = 1;
    for (; left > 0 && value < 8; left--) value = 2 * value + +this.bit(digits + value);
    return this.plain(value, left) - 1;
  }

  /** A number up to `max`. */
  upTo(max: number, context: number): number {
    const value = this.next(context);
    return value <= max ? value : this.damaged();
  }

  end(): void {
    if (this.at < this.text.length) this.damaged();
  }
}

/** Where the class of a Java name ends, unless the document says otherwise. */
function classOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('.')));
}

/** `lines`: the groups' libraries, then the names. */
function readFrames(source: Json, lines: string[], code: Code): FrameColumns {
  const strings = [''];
  const groups = Array.from({ length: code.upTo(lines.length, PLAIN) }, () => code.upTo(4, PLAIN)).map((kind) => [kind, kind > 0 ? lines.shift()! : ''] as const);
  // Names that stand within another's line.
  const whole = [...lines];
  let at = -1;
  for (let left = code.upTo(whole.length, PLAIN); left > 0; left--) {
    at += code.upTo(lines.length - at, PLAIN);
    const host = whole[code.upTo(whole.length - 1, PLAIN)]!;
    lines.splice(at, 0, host.slice(code.next(PLAIN), host.length - code.next(PLAIN)));
  }
  if (code.next(PLAIN) !== lines.length) code.damaged();
  const classes = new Map<number, string>();
  const pairs = (key: string) => {
    const flat = list(source[key] ?? [], key);
    return Array.from({ length: flat.length >> 1 }, (_, i) => [integer(flat[2 * i], lines.length - 1, key), text(flat[2 * i + 1], key)] as const);
  };
  for (const [name, cls] of pairs('classes')) classes.set(name, cls);
  const parts = lines.map((name, i) => {
    const [kind, library] = groups[code.upTo(groups.length - 1, GROUP + (name.includes('::') ? 2 : name.includes('.') ? 1 : 0))]!;
    const cls = kind > 0 ? library : (classes.get(i) ?? classOf(name));
    return [cls === '' ? 0 : strings.push(cls) - 1, strings.push(kind > 0 || cls === '' ? name : name.slice(cls.length + 1)) - 1, 0, kind];
  });
  for (const [name, file] of pairs('files')) parts[name]![2] = strings.push(file) - 1;
  const flat = source['frames'] === undefined ? parts.flatMap((_, i) => [i, 0]) : list(source['frames'], 'frames');
  const count = flat.length >> 1;
  const column = (part: number) => Int32Array.from({ length: count }, (_, i) => parts[integer(flat[2 * i], lines.length - 1, 'frames')]![part]!);
  return { strings, cls: column(0), method: column(1), file: column(2), kind: column(3), line: Int32Array.from({ length: count }, (_, i) => integer(flat[2 * i + 1], 0x7fffffff, 'frames')) };
}

/** Reads the trees of all profiles, one after the other: what one shows helps to foretell the next. */
class Trees {
  private seen = 0;
  private readonly foretold = new Int32Array(SLOTS);
  private readonly ended: Uint8Array;

  constructor(
    private readonly code: Code,
    private readonly frames: number,
  ) {
    this.ended = new Uint8Array(frames);
  }

  private frame(parent: number, behind: number): number {
    const slot = (Math.imul(parent + 1, 0x9e3779b1) + Math.imul(behind + 1, 0x85ebca77)) >>> 16;
    const foretold = this.foretold[slot]!;
    const { code } = this;
    const coded = !code.bit(FORETOLD + (foretold > 0 ? 1 : 0)) ? foretold : code.bit(NEW) ? 0 : code.below(this.seen) + 1;
    const frame = coded > 0 ? coded - 1 : this.seen++;
    if (frame >= this.frames) code.damaged();
    this.foretold[slot] = frame + 1;
    return frame;
  }

  /** Per stack: how far to go back up, the frames that are new, and the value at their end. */
  read(compares: boolean): { columns: Columns; scale: number; total: number } {
    const { code, ended } = this;
    const count = code.upTo(MAX_NODES, PLAIN);
    const scale = code.upTo(Number.MAX_SAFE_INTEGER, PLAIN);
    const depth = new Int32Array(count);
    const frame = new Int32Array(count);
    const self = new Float64Array(count);
    const before = compares ? new Float64Array(count) : null;
    // The frames from the root on; `open` of them count.
    const path = new Int32Array(Math.min(count, MAX_DEPTH + 1));
    let open = 1;
    if (count < 1) code.damaged();
    let total = 0;
    const values = (node: number) => {
      total += self[node] = code.next(SELF) * scale;
      if (before !== null) before[node] = code.next(BEFORE) * scale;
    };
    frame[0] = path[0] = -1;
    values(0);
    for (let node = 1; node < count; values(node - 1)) {
      const up = code.upTo(open - 1, UP);
      // Behind which sibling the new branch stands: the node that the path is left at.
      let behind = up === 0 ? -1 : path[open - up]!;
      open -= up;
      for (let end = false; !end; behind = -1) {
        if (node >= count || open > MAX_DEPTH) code.damaged();
        const next = this.frame(path[open - 1]!, behind);
        end = code.bit(ENDED + ended[next]!);
        ended[next] = +end;
        depth[node] = open;
        frame[node++] = path[open++] = next;
      }
    }
    const omitted = this.omitted(count, scale, compares);
    return { columns: { depth, frame, self, before, omitted }, scale, total: omitted.total.reduce((sum, value) => sum + value, total) };
  }

  private omitted(nodes: number, scale: number, compares: boolean): Columns['omitted'] {
    const { code } = this;
    const count = code.upTo(nodes, PLAIN);
    const result = { node: new Int32Array(count), total: new Float64Array(count), before: compares ? new Float64Array(count) : null, count: new Int32Array(count) };
    let node = -1;
    for (let i = 0; i < count; i++) {
      const gap = code.upTo(nodes - 1 - node, GAP);
      if (gap === 0) code.damaged();
      result.node[i] = node += gap;
      result.total[i] = code.next(CUT_VALUE) * scale;
      if (result.before !== null) result.before[i] = code.next(CUT_BEFORE) * scale;
      result.count[i] = code.upTo(0x7fffffff, CUT_NODES);
    }
    return result;
  }
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

/** What the document leaves out the tree tells: its total, and how many samples of one weight that is. */
function readHead(source: Json, total: number, scale: number): Head {
  const decimal = (key: string, implied: string) => {
    const digits = text(source[key] ?? implied, key);
    return /^\d{1,40}$/.test(digits) ? digits : refuse(`${key} is not a decimal text`);
  };
  const valueTotal = decimal('value_total', `${total}`);
  return {
    type: source['type'] as string,
    unit: text(source['unit'] ?? 'ns', 'unit'),
    rawTotal: decimal('raw_total', valueTotal),
    valueTotal,
    samples: integer(source['samples'] ?? total / scale, Number.MAX_SAFE_INTEGER, 'samples'),
  };
}

function readProfile(source: Json, frames: number, trees: Trees, heat: HeatKitchen | null): PackedProfile {
  const { columns, scale, total } = trees.read(source['compares'] === true);
  return {
    head: { ...readHead(source, total, scale), changes: readChanges(source, frames) },
    columns,
    cells: heat?.read(source, columns) ?? null,
  };
}

/** Parses and checks a document, but for its profiles; their cells only with what knows about them. Throws an Error that says what is wrong. */
export function readPacked(document: string, heat: HeatKitchen | null = null): PackedDocument {
  // One line of JSON, then libraries and names, one a line: the inside of a JSON string.
  const [json, ...lines] = document.split('\n');
  const source = JSON.parse(json!) as Json;
  if (source?.['version'] !== 4) refuse('this is no packed flame graph of version 4');
  const code = new Code(text(source['data'], 'data'));
  const frames = readFrames(
    source,
    lines.map((line) => JSON.parse(`"${line}"`) as string),
    code,
  );
  const trees = new Trees(code, frames.cls.length);
  const sources = list(source['profiles'], 'profiles') as Json[];
  if (sources.length === 0) refuse('there is no profile in it');
  const profiles: PackedProfile[] = [];
  /** Behind what is damaged nothing can be read. */
  let damage: unknown = null;
  return {
    frames,
    threads: source['threads'] === true,
    types: sources.map((profile) => text(profile?.['type'], 'type')),
    meta: list(source['meta'] ?? [], 'meta'),
    profile: (at) => {
      for (let next = profiles.length; next <= at; next++) {
        if (damage !== null) throw damage;
        try {
          const profile = readProfile(sources[next]!, frames.cls.length, trees, heat);
          if (next === sources.length - 1) code.end();
          profiles.push(profile);
        } catch (error) {
          damage = error;
          throw error;
        }
      }
      return profiles[at]!;
    },
  };
}
