// A writer of packed flame graphs for tests, made from the format's page and not from the exporter.
import type { SampleDocument, SampleProfile } from './sample.ts';

const DIGITS = Array.from({ length: 0x7f - 0x23 }, (_, i) => String.fromCharCode(0x23 + i)).filter((char) => char !== '<' && char !== '\\');

export function number(value: number): string {
  if (value < 70) return DIGITS[value]!;
  if (value < 1420) return DIGITS[70 + Math.floor((value - 70) / 90)]! + DIGITS[(value - 70) % 90]!;
  if (value < 33_820) {
    const rest = value - 1420;
    return DIGITS[85 + Math.floor(rest / 8100)]! + DIGITS[Math.floor(rest / 90) % 90]! + DIGITS[rest % 90]!;
  }
  let digits = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 90)) digits = DIGITS[rest % 90]! + digits;
  return DIGITS[89]! + DIGITS[digits.length]! + digits;
}

function packTree({ nodes }: SampleProfile, ids: number[], seen: Set<number>, before?: number[]): string {
  const foretold = new Map<number, number>();
  const last = new Map<number, number>();
  const path: number[] = [-1];
  const end = (node: number, leaf: number): string => {
    const value = nodes.self[node]!;
    if (before !== undefined) return number(value + 1) + number(before[node]! + 1);
    if (leaf >= 0 && last.get(leaf) === value) return number(0);
    last.set(leaf, value);
    return number(value + 1);
  };
  let text = end(0, -1);
  const count = nodes.depth.length;
  const isEnd = (node: number) => node + 1 === count || nodes.depth[node + 1]! <= nodes.depth[node]! || nodes.self[node]! > 0 || (before?.[node] ?? 0) > 0;
  for (let node = 1; node < count; ) {
    const up = path.length - nodes.depth[node]!;
    let behind = up === 0 ? -1 : path[path.length - up]!;
    path.length -= up;
    let to = node;
    while (!isEnd(to)) to++;
    text += number(up) + number(to - node + 1);
    let hits = 0;
    for (; node <= to; node++) {
      const frame = ids[nodes.frame[node]!]!;
      const slot = (Math.imul(path[path.length - 1]! + 1, 0x9e3779b1) + Math.imul(behind + 1, 0x85ebca77)) >>> 16;
      const code = seen.has(frame) ? frame + 1 : 0;
      seen.add(frame);
      if ((foretold.get(slot) ?? 0) === code) hits++;
      else {
        text += number(hits) + number(code);
        hits = 0;
        if (node === to) hits = -1;
      }
      foretold.set(slot, frame + 1);
      path.push(frame);
      behind = -1;
    }
    if (hits > 0) text += number(hits);
    text += end(to, path[path.length - 1]!);
  }
  return text;
}

/** What stands in a page: a line of JSON, and a line for each of `names`. */
export function packedText({ names, ...document }: Record<string, unknown>): string {
  return [JSON.stringify(document), ...(names as string[]).map((name) => JSON.stringify(name).slice(1, -1))].join('\n');
}

/** Which group a name is of, for each run of names of one group. */
function packRuns(groups: number[]): string {
  let text = '';
  for (let at = 0, end = 0; at < groups.length; at = end) {
    while (end < groups.length && groups[end] === groups[at]) end++;
    text += number(groups[at]!) + number(end - at - 1);
  }
  return text;
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
  const seen = new Set<number>();
  return {
    version: 3,
    names,
    groups: groups.flatMap((key) => [Number(key[0]), key.slice(1)]),
    runs: packRuns(groupKeys.map((key) => groups.indexOf(key))),
    classes,
    profiles: document.profiles.map((profile, i) => ({
      type: profile.type,
      unit: profile.unit,
      raw_total: profile.raw_total,
      value_total: profile.value_total,
      samples: profile.samples,
      nodes: profile.nodes.depth.length,
      scale: 1,
      tree: packTree(profile, profileKeys[i]!.map((key) => ids.get(key)!), seen, before[i]),
      ...(before[i] === undefined ? {} : { compares: true }),
      omitted_nodes: profile.omitted.node.length,
      omitted: profile.omitted.node
        .map((node, at) => number(node - (at === 0 ? -1 : profile.omitted.node[at - 1]!)) + number(profile.omitted.total[at]!) + (before[i] === undefined ? '' : number(0)) + number(profile.omitted.count[at]!))
        .join(''),
    })),
    meta: document.meta,
    ...more,
  };
}
