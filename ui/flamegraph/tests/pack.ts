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

function packTree({ nodes }: SampleProfile, ids: number[], before?: number[]): string {
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
      if ((foretold.get(slot) ?? 0) === frame) hits++;
      else {
        text += number(hits) + number(frame);
        hits = 0;
        if (node === to) hits = -1;
      }
      foretold.set(slot, frame);
      path.push(frame);
      behind = -1;
    }
    if (hits > 0) text += number(hits);
    text += end(to, path[path.length - 1]!);
  }
  return text;
}

/** The packed form of a document, values as they are (scale 1). `before`: by profile, the older side's self by node. */
export function pack(document: SampleDocument, before: (number[] | undefined)[] = [], more: Record<string, unknown> = {}): Record<string, unknown> {
  const keys = new Map<string, { kind: number; cls: string; method: string }>();
  const keyOf = (profile: SampleProfile, frame: number) => {
    const [cls, method, kind] = [document.strings[profile.frames.class[frame]!]!, document.strings[profile.frames.method[frame]!]!, profile.frames.kind[frame]!];
    const key = `${kind}${cls}\u0000${method}`;
    keys.set(key, { kind, cls, method });
    return key;
  };
  const profileKeys = document.profiles.map((profile) => profile.frames.class.map((_, frame) => keyOf(profile, frame)));
  const order = [...keys].sort(([, a], [, b]) => a.kind - b.kind);
  const ids = new Map(order.map(([key], i) => [key, i]));
  const names = order.map(([, { kind, cls, method }]) => (cls === '' ? method : `${cls}${kind === 0 ? '.' : '!'}${method}`));
  const classes = order.flatMap(([, { kind, cls }], i) => {
    const at = kind === 0 ? names[i]!.lastIndexOf('.') : names[i]!.indexOf('!');
    return (at < 0 ? '' : names[i]!.slice(0, at)) === cls ? [] : [i, cls];
  });
  return {
    version: 2,
    names,
    kinds: [0, 1, 2, 3, 4].map((kind) => order.filter(([, frame]) => frame.kind === kind).length),
    classes,
    profiles: document.profiles.map((profile, i) => ({
      type: profile.type,
      unit: profile.unit,
      raw_total: profile.raw_total,
      value_total: profile.value_total,
      samples: profile.samples,
      nodes: profile.nodes.depth.length,
      scale: 1,
      tree: packTree(profile, profileKeys[i]!.map((key) => ids.get(key)!), before[i]),
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
