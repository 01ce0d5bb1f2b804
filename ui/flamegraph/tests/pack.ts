// SPDX-License-Identifier: Apache-2.0
// A writer of packed flame graphs for tests, made from the format's page and not from the exporter.
import type { SampleDocument, SampleProfile } from './sample.ts';

const DIGITS = Array.from({ length: 0x7f - 0x23 }, (_, i) => String.fromCharCode(0x23 + i)).filter((char) => char !== '<' && char !== '\\');

const LEAST = 90 ** 3;
const [PLAIN, GROUP, UP, SELF, BEFORE, GAP, CUT_VALUE, CUT_BEFORE, CUT_NODES] = [0, 1, 4, 5, 6, 7, 8, 9, 10];

/** Writes a code; `text` ends it. */
export class Coder {
  private low = 0;
  private range = 90 * LEAST;
  private readonly digits: number[] = [];
  private readonly places = new Map<string, { odds: number; met: number }>();

  private shift(): void {
    if (this.low >= 90 * LEAST) {
      this.low -= 90 * LEAST;
      let at = this.digits.length - 1;
      for (; this.digits[at] === 89; at--) this.digits[at] = 0;
      this.digits[at]!++;
    }
    this.digits.push(Math.floor(this.low / LEAST));
    this.low = (this.low % LEAST) * 90;
  }

  bit(key: string, bit: boolean): void {
    const place = this.places.get(key) ?? { odds: 4096, met: 3 };
    const bound = Math.floor(this.range / 8192) * place.odds;
    if (bit) this.low += bound;
    this.range = bit ? this.range - bound : bound;
    const pace = Math.floor(Math.log2(place.met));
    place.odds += bit ? -(place.odds >> pace) : (8192 - place.odds) >> pace;
    place.met = Math.min(place.met + 1, 32);
    this.places.set(key, place);
    this.fit();
  }

  private fit(): void {
    for (; this.range < LEAST; this.range *= 90) this.shift();
  }

  private plain(bits: string): void {
    for (let i = 0; i < bits.length; i += 12) {
      const part = bits.slice(i, i + 12);
      this.range = Math.floor(this.range / 2 ** part.length);
      this.low += Number.parseInt(part, 2) * this.range;
      this.fit();
    }
  }

  below(number: number, end: number): void {
    const width = end > 1 ? (end - 1).toString(2).length : 0;
    this.plain(width > 0 ? number.toString(2).padStart(width, '0') : '');
  }

  number(context: number, number: number): void {
    const bits = (BigInt(number) + 1n).toString(2);
    const size = bits.length - 1;
    const [fours, high, low] = [Math.floor(size / 4), (size & 2) > 0, (size & 1) > 0];
    for (let i = 0; i <= fours; i++) this.bit(`${context} fours ${i}`, i < fours);
    this.bit(`${context} high ${fours}`, high);
    this.bit(`${context} low ${fours} ${high}`, low);
    for (let i = 1; i <= Math.min(size, 3); i++) this.bit(`${context} ${size} ${bits.slice(0, i)}`, bits[i] === '1');
    this.plain(bits.slice(4));
  }

  /** Of the numbers in the range the one with the most zeros at its end. */
  text(): string {
    let step = LEAST;
    while (Math.ceil(this.low / step) * step >= this.low + this.range) step /= 90;
    this.low = Math.ceil(this.low / step) * step;
    do this.shift();
    while (this.low > 0);
    return this.digits.map((digit) => DIGITS[digit]).join('');
  }
}

/** All trees of a document. */
class TreePacker {
  private readonly foretold = new Map<number, number>();
  private readonly ended = new Map<number, boolean>();
  private readonly seen = new Set<number>();

  constructor(private readonly coder: Coder) {}

  private frame(frame: number, parent: number, behind: number): void {
    const slot = (Math.imul(parent + 1, 0x9e3779b1) + Math.imul(behind + 1, 0x85ebca77)) >>> 16;
    const foretold = this.foretold.get(slot) ?? 0;
    const isNew = !this.seen.has(frame);
    const code = isNew ? 0 : frame + 1;
    this.coder.bit(`foretold ${foretold > 0}`, code !== foretold);
    if (code !== foretold) this.coder.bit('new', isNew);
    if (code !== foretold && !isNew) this.coder.below(frame, this.seen.size);
    this.seen.add(frame);
    this.foretold.set(slot, frame + 1);
  }

  pack({ nodes, omitted }: SampleProfile, ids: number[], before?: number[]): void {
    const { coder } = this;
    const path: number[] = [-1];
    const values = (node: number) => {
      coder.number(SELF!, nodes.self[node]!);
      if (before !== undefined) coder.number(BEFORE!, before[node]!);
    };
    const count = nodes.depth.length;
    const isEnd = (node: number) => node + 1 === count || nodes.depth[node + 1]! <= nodes.depth[node]! || nodes.self[node]! > 0 || (before?.[node] ?? 0) > 0;
    coder.number(PLAIN!, count);
    coder.number(PLAIN!, 1); // the scale
    values(0);
    for (let node = 1; node < count; ) {
      const up = path.length - nodes.depth[node]!;
      let behind = up === 0 ? -1 : path[path.length - up]!;
      path.length -= up;
      coder.number(UP!, up);
      for (let end = false; !end; node++) {
        const frame = ids[nodes.frame[node]!]!;
        this.frame(frame, path[path.length - 1]!, behind);
        end = isEnd(node);
        coder.bit(`end ${this.ended.get(frame) ?? false}`, end);
        this.ended.set(frame, end);
        path.push(frame);
        behind = -1;
      }
      values(node - 1);
    }
    coder.number(PLAIN!, omitted.node.length);
    omitted.node.forEach((node, at) => {
      coder.number(GAP!, node - (at === 0 ? -1 : omitted.node[at - 1]!));
      coder.number(CUT_VALUE!, omitted.total[at]!);
      if (before !== undefined) coder.number(CUT_BEFORE!, 0);
      coder.number(CUT_NODES!, omitted.count[at]!);
    });
  }
}

const lookOf = (name: string) => (name.includes('::') ? 2 : name.includes('.') ? 1 : 0);

const FACTS = ['title', 'generator', 'engine', 'java_args', 'jvm_version', 'start_ms', 'end_ms', 'intervals', 'loss', 'notes'];

/** What stands in a page: a line of JSON, and a line for each of `names`, which begin with the groups' libraries. */
export function packedText({ names, ...document }: Record<string, unknown>): string {
  return [JSON.stringify(document), ...(names as string[]).map((name) => JSON.stringify(name).slice(1, -1))].join('\n');
}

/** By name: the longest other one that it stands within, or -1. */
function hostsOf(names: string[]): number[] {
  const longer = (name: string, a: number, b: number) => (names[b]!.length > Math.max(name.length, names[a]?.length ?? 0) && names[b]!.includes(name) ? b : a);
  return names.map((name) => (name.length > 4 && names.length <= 512 ? names.reduce((best, _, i) => longer(name, best, i), -1) : -1));
}

function packHosts(names: string[], hosts: number[], coder: Coder): void {
  const own = [...names.keys()].filter((i) => hosts[i]! < 0);
  let last = -1;
  coder.number(PLAIN!, names.length - own.length);
  hosts.forEach((host, i) => {
    if (host < 0) return;
    const before = names[host]!.indexOf(names[i]!);
    for (const number of [i - last, own.indexOf(host), before, names[host]!.length - before - names[i]!.length]) coder.number(PLAIN!, number);
    last = i;
  });
}

/** The packed form of a document, values as they are (scale 1); packedText writes it. `before`: by profile, the older side's self by node. */
export function pack(document: SampleDocument, before: (number[] | undefined)[] = [], more: Record<string, unknown> = {}): Record<string, unknown> {
  const keys = new Map<string, { kind: number; cls: string; method: string }>();
  const keyOf = (profile: SampleProfile, frame: number) => {
    const [cls, method, kind] = [document.strings[profile.frames.class[frame]!]!, document.strings[profile.frames.method[frame]!]!, profile.frames.kind[frame]!];
    const key = `${kind}${cls}\u0000${method}`;
    keys.set(key, { kind, cls, method });
    return key;
  };
  // In order of first use.
  for (const profile of document.profiles) for (const frame of profile.nodes.frame.slice(1)) keyOf(profile, frame);
  const profileKeys = document.profiles.map((profile) => profile.frames.class.map((_, frame) => keyOf(profile, frame)));
  const order = [...keys];
  const ids = new Map(order.map(([key], i) => [key, i]));
  const names = order.map(([, { kind, cls, method }]) => (cls === '' || kind > 0 ? method : `${cls}.${method}`));
  const classes = order.flatMap(([, { kind, cls }], i) => (kind > 0 || names[i]!.slice(0, Math.max(0, names[i]!.lastIndexOf('.'))) === cls ? [] : [i, cls]));
  const groupKeys = order.map(([, { kind, cls }]) => `${kind}${kind > 0 ? cls : ''}`);
  const groups = [...new Set(groupKeys)];
  const coder = new Coder();
  coder.number(PLAIN!, groups.length);
  for (const key of groups) coder.number(PLAIN!, Number(key[0]));
  const hosts = hostsOf(names);
  packHosts(names, hosts, coder);
  coder.number(PLAIN!, names.length);
  names.forEach((name, i) => coder.number(GROUP! + lookOf(name), groups.indexOf(groupKeys[i]!)));
  const trees = new TreePacker(coder);
  document.profiles.forEach((profile, i) => trees.pack(profile, profileKeys[i]!.map((key) => ids.get(key)!), before[i]));
  return {
    version: 4,
    names: [...groups.filter((key) => key[0] !== '0').map((key) => key.slice(1)), ...names.filter((_, i) => hosts[i]! < 0)],
    classes,
    profiles: document.profiles.map(({ type, unit, raw_total, value_total, samples }, i) => ({ type, unit, raw_total, value_total, samples, ...(before[i] === undefined ? {} : { compares: true }) })),
    data: coder.text(),
    meta: FACTS.map((fact) => document.meta[fact] ?? 0),
    ...more,
  };
}
