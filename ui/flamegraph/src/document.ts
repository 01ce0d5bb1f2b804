// SPDX-License-Identifier: Apache-2.0
// Reader of flame graph JSON version 1 (docs/formats/flamegraph-json.md). The input is hostile: everything is checked before
// anything is drawn, and every refusal names the place.
import { Frames, type FrameColumns } from './frames.ts';
import { layout, type Columns } from './layout.ts';
import { Profile } from './profile.ts';

export const MAX_NODES = 2_000_000;
export const MAX_DEPTH = 65_535;

/** The document is not flame graph JSON version 1; the message says where and why. */
export class FormatError extends Error {
  override name = 'FormatError';
}

export interface FlameDocument {
  profiles: Profile[];
  meta: Record<string, unknown>;
}

type Table = Record<string, unknown>;

function object(value: unknown, place: string): Table {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FormatError(`${place} is not an object`);
  }
  return value as Table;
}

function array(value: unknown, place: string, length?: number): unknown[] {
  if (!Array.isArray(value)) throw new FormatError(`${place} is not an array`);
  if (length !== undefined && value.length !== length) {
    throw new FormatError(`${place} has ${value.length} entries where ${length} belong`);
  }
  return value;
}

function text(value: unknown, place: string): string {
  if (typeof value !== 'string') throw new FormatError(`${place} is not a string`);
  return value;
}

function decimal(value: unknown, place: string): string {
  const digits = text(value, place);
  if (!/^\d{1,40}$/.test(digits)) throw new FormatError(`${place} is not a decimal string`);
  return digits;
}

function amount(value: unknown, place: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new FormatError(`${place} is not a number of 0 or more`);
  }
  return value;
}

function integers(value: unknown, place: string, min: number, max: number, length?: number): Int32Array {
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

function amounts(value: unknown, place: string, length: number): Float64Array {
  const source = array(value, place, length);
  const result = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    const entry = source[i];
    if (typeof entry !== 'number' || !(entry >= 0) || entry === Infinity) amount(entry, `${place}[${i}]`);
    result[i] = entry as number;
  }
  return result;
}

function readFrames(value: unknown, place: string, texts: string[]): FrameColumns {
  const frames = object(value, place);
  const strings = texts.length;
  const cls = integers(frames['class'], `${place}.class`, 0, strings - 1);
  const column = (key: string, max: number) => integers(frames[key], `${place}.${key}`, 0, max, cls.length);
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
  return { depth, frame, self: amounts(nodes['self'], `${place}.self`, count), total: amounts(nodes['total'], `${place}.total`, count) };
}

function readOmitted(value: unknown, place: string, nodes: number) {
  const omitted = value === undefined ? { node: [], total: [], count: [] } : object(value, place);
  const node = integers(omitted['node'], `${place}.node`, 0, nodes - 1);
  const seen = new Set(node);
  if (seen.size !== node.length) throw new FormatError(`${place}.node names a node twice`);
  return {
    node,
    total: amounts(omitted['total'], `${place}.total`, node.length),
    count: integers(omitted['count'], `${place}.count`, 0, 0x7fffffff, node.length),
  };
}

function readProfile(value: unknown, place: string, strings: string[]): Profile {
  const source = object(value, place);
  const frames = readFrames(source['frames'], `${place}.frames`, strings);
  const { total, ...nodes } = readNodes(source['nodes'], `${place}.nodes`, frames.cls.length);
  const columns: Columns = { ...nodes, before: null, omitted: { ...readOmitted(source['omitted'], `${place}.omitted`, total.length), before: null } };
  const boxes = layout(columns);
  for (let node = 0; node < total.length; node++) {
    if (boxes.total[node]! <= total[node]! * (1 + 1e-9) + 0.5) continue;
    throw new FormatError(`${place}.nodes.total[${node}] is less than the node's self, children and omitted parts`);
  }
  const head = {
    type: text(source['type'], `${place}.type`),
    unit: text(source['unit'], `${place}.unit`),
    rawTotal: decimal(source['raw_total'], `${place}.raw_total`),
    valueTotal: decimal(source['value_total'], `${place}.value_total`),
    samples: amount(source['samples'], `${place}.samples`),
  };
  return new Profile(head, new Frames(frames), boxes);
}

/** Checks and unpacks a parsed JSON value. Throws FormatError. */
export function readDocument(value: unknown): FlameDocument {
  const source = object(value, 'the document');
  if (source['version'] !== 1) {
    throw new FormatError(`version is ${JSON.stringify(source['version']) ?? 'missing'}; this reader knows version 1`);
  }
  const strings = array(source['strings'], 'strings');
  strings.forEach((entry, i) => text(entry, `strings[${i}]`));
  if (strings[0] !== '') throw new FormatError('strings[0] is not the empty string');
  const profiles = array(source['profiles'], 'profiles');
  if (profiles.length === 0) throw new FormatError('profiles is empty');
  return {
    profiles: profiles.map((entry, i) => readProfile(entry, `profiles[${i}]`, strings as string[])),
    meta: source['meta'] === undefined ? {} : object(source['meta'], 'meta'),
  };
}

/** Parses and checks a JSON text. Throws FormatError. */
export function parseDocument(json: string): FlameDocument {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new FormatError(`the text is not JSON: ${(error as Error).message}`);
  }
  return readDocument(value);
}
