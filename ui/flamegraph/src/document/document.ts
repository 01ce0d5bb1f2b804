// SPDX-License-Identifier: Apache-2.0
// Reads flame graph JSON version 2 (docs/formats/flamegraph-json.md). The input is hostile: everything is checked before
// anything is drawn, and every refusal names the place.
import { Frames, type FrameColumns } from './frames.ts';
import type { Cells, HeatKitchen } from './heat.ts';
import { layout, type Columns } from './layout.ts';
import { Profile, type Change, type Head } from './profile.ts';

export const MAX_NODES = 4_000_000;
export const MAX_DEPTH = 65_535;

/** The document is not flame graph JSON version 2; the message says where and why. */
export class FormatError extends Error {
  override name = 'FormatError';
}

export interface FlameDocument {
  profiles: Profile[];
  meta: Record<string, unknown>;
}

/** A profile of a document, checked, before it is laid out. */
export interface ProfileColumns {
  head: Head;
  columns: Columns;
  cells: Cells | null;
}

/** A document whose profiles are checked when they are first asked for. */
export interface OpenedDocument {
  frames: FrameColumns;
  /** The first row of frames holds threads. */
  threads: boolean;
  /** The types of its profiles. */
  types: string[];
  meta: Record<string, unknown>;
  /** Returns profile number `at`. Throws FormatError. */
  profile(at: number): ProfileColumns;
}

export type Table = Record<string, unknown>;

export function object(value: unknown, place: string): Table {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FormatError(`${place} is not an object`);
  }
  return value as Table;
}

export function array(value: unknown, place: string, length?: number): unknown[] {
  if (!Array.isArray(value)) throw new FormatError(`${place} is not an array`);
  if (length !== undefined && value.length !== length) {
    throw new FormatError(`${place} has ${value.length} entries where ${length} belong`);
  }
  return value;
}

export function text(value: unknown, place: string): string {
  if (typeof value !== 'string') throw new FormatError(`${place} is not a string`);
  return value;
}

export function decimal(value: unknown, place: string): string {
  const digits = text(value, place);
  if (!/^\d{1,40}$/.test(digits)) throw new FormatError(`${place} is not a decimal string`);
  return digits;
}

export function amount(value: unknown, place: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new FormatError(`${place} is not a number of 0 or more`);
  }
  return value;
}

export function integers(value: unknown, place: string, min: number, max: number, length?: number): Int32Array {
  const source = array(value, place, length);
  const result = new Int32Array(source.length);
  for (let i = 0; i < source.length; i++) {
    const entry = source[i];
    if (typeof entry !== 'number' || !Number.isInteger(entry) || entry < min || entry > max) {
      throw new FormatError(`${place}[${i}] is not an integer from ${min} to ${max}`);
    }
    result[i] = entry;
  }
  return result;
}

export function amounts(value: unknown, place: string, length?: number): Float64Array {
  const source = array(value, place, length);
  const result = new Float64Array(source.length);
  for (let i = 0; i < source.length; i++) {
    const entry = source[i];
    if (typeof entry !== 'number' || !(entry >= 0) || entry === Infinity) amount(entry, `${place}[${i}]`);
    result[i] = entry as number;
  }
  return result;
}

function readFrames(value: unknown, texts: string[]): FrameColumns {
  const frames = object(value, 'frames');
  const strings = texts.length;
  const cls = integers(frames['class'], 'frames.class', 0, strings - 1);
  const column = (key: string, max: number) => integers(frames[key], `frames.${key}`, 0, max, cls.length);
  return {
    strings: texts,
    cls,
    method: column('method', strings - 1),
    file: column('file', strings - 1),
    line: column('line', 0x7fffffff),
    kind: column('kind', 4),
  };
}

function readNodes(value: unknown, place: string, frames: number) {
  const nodes = object(value, place);
  const depth = integers(nodes['depth'], `${place}.depth`, 0, MAX_DEPTH);
  const count = depth.length;
  if (count === 0) throw new FormatError(`${place}.depth is empty; node 0 must be the root`);
  if (count > MAX_NODES) throw new FormatError(`${place} has ${count} nodes, more than ${MAX_NODES}`);
  const frame = integers(nodes['frame'], `${place}.frame`, -1, frames - 1, count);
  if (depth[0] !== 0 || frame[0] !== -1) throw new FormatError(`${place}: node 0 is not a root (depth 0, frame -1)`);
  for (let i = 1; i < count; i++) {
    if (depth[i]! < 1 || depth[i]! > depth[i - 1]! + 1) {
      throw new FormatError(`${place}.depth[${i}] is ${depth[i]} after ${depth[i - 1]}`);
    }
    if (frame[i]! < 0) throw new FormatError(`${place}.frame[${i}] is -1 and not the root`);
  }
  const before = nodes['before'] === undefined ? null : amounts(nodes['before'], `${place}.before`, count);
  return { depth, frame, self: amounts(nodes['self'], `${place}.self`, count), before };
}

function readOmitted(value: unknown, place: string, nodes: number, compares: boolean): Columns['omitted'] {
  const omitted = value === undefined ? { node: [], total: [], before: [], count: [] } : object(value, place);
  const node = integers(omitted['node'], `${place}.node`, 0, nodes - 1);
  if (new Set(node).size !== node.length) throw new FormatError(`${place}.node names a node twice`);
  return {
    node,
    total: amounts(omitted['total'], `${place}.total`, node.length),
    before: compares ? amounts(omitted['before'], `${place}.before`, node.length) : null,
    count: integers(omitted['count'], `${place}.count`, 0, 0x7fffffff, node.length),
  };
}

/** Reads shares in parts per billion: `[frame, before, after]` or `[frame, before, after, low, high]`. */
function readChanges(value: unknown, place: string, frames: number): Change[] {
  return array(value ?? [], place).map((entry, i) => {
    const row = array(entry, `${place}[${i}]`);
    const [frame, ...shares] = row;
    const isFrame = Number.isInteger(frame) && (frame as number) >= 0 && (frame as number) < frames;
    if (!isFrame || (row.length !== 3 && row.length !== 5) || !shares.every((share) => Number.isFinite(share))) {
      throw new FormatError(`${place}[${i}] is not a frame and its shares`);
    }
    const [before, after, low, high] = shares as number[];
    return { frame: frame as number, before: before!, after: after!, low: low ?? null, high: high ?? null };
  });
}

function readProfile(value: unknown, place: string, frames: number, heat: HeatKitchen | null): ProfileColumns {
  const source = object(value, place);
  const nodes = readNodes(source['nodes'], `${place}.nodes`, frames);
  const omitted = readOmitted(source['omitted'], `${place}.omitted`, nodes.depth.length, nodes.before !== null);
  const columns: Columns = { ...nodes, omitted };
  const head = {
    type: text(source['type'], `${place}.type`),
    unit: text(source['unit'], `${place}.unit`),
    rawTotal: decimal(source['raw_total'], `${place}.raw_total`),
    valueTotal: decimal(source['value_total'], `${place}.value_total`),
    samples: amount(source['samples'], `${place}.samples`),
    changes: readChanges(source['changes'], `${place}.changes`, frames),
  };
  return { head, columns, cells: source['heat'] === undefined ? null : (heat?.read(source['heat'], `${place}.heat`, columns) ?? null) };
}

/** Checks a parsed JSON value except its profiles. Cells are read only with a HeatKitchen. Throws FormatError. */
export function openDocument(value: unknown, heat: HeatKitchen | null = null): OpenedDocument {
  const source = object(value, 'the document');
  if (source['version'] !== 2) {
    throw new FormatError(`version is ${JSON.stringify(source['version']) ?? 'missing'}; this reader knows version 2`);
  }
  const strings = array(source['strings'], 'strings');
  strings.forEach((entry, i) => text(entry, `strings[${i}]`));
  if (strings[0] !== '') throw new FormatError('strings[0] is not the empty string');
  const frames = readFrames(source['frames'], strings as string[]);
  const sources = array(source['profiles'], 'profiles');
  if (sources.length === 0) throw new FormatError('profiles is empty');
  const types = sources.map((entry, i) => text(object(entry, `profiles[${i}]`)['type'], `profiles[${i}].type`));
  return {
    frames,
    threads: source['threads'] === true,
    types,
    meta: source['meta'] === undefined ? {} : object(source['meta'], 'meta'),
    profile: (at) => readProfile(sources[at], `profiles[${at}]`, frames.cls.length, heat),
  };
}

/** Checks and unpacks a parsed JSON value. Throws FormatError. */
export function readDocument(value: unknown): FlameDocument {
  const opened = openDocument(value);
  const frames = new Frames(opened.frames);
  const profiles = opened.types.map((_, at) => {
    const { head, columns } = opened.profile(at);
    return new Profile(head, frames, layout(columns));
  });
  return { profiles, meta: opened.meta };
}

/** Throws FormatError. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new FormatError(`the text is not JSON: ${(error as Error).message}`);
  }
}

/** Parses and checks a JSON text. Throws FormatError. */
export function parseDocument(json: string): FlameDocument {
  return readDocument(parseJson(json));
}
