// SPDX-License-Identifier: Apache-2.0
// Documents for tests: small ones from stacks written by hand, large ones from a fixed pseudo-random sequence.

export interface SampleDocument {
  version: number;
  strings: string[];
  frames: Record<'class' | 'method' | 'file' | 'line' | 'kind', number[]>;
  threads?: boolean;
  profiles: SampleProfile[];
  meta: Record<string, unknown>;
}

export interface SampleProfile {
  type: string;
  unit: string;
  raw_total: string;
  value_total: string;
  samples: number;
  nodes: Record<'depth' | 'frame' | 'self', number[]> & { before?: number[] };
  omitted: Record<'node' | 'total' | 'count', number[]> & { before?: number[] };
  changes?: number[][];
  heat?: Record<string, unknown>;
}

/** `native:libc.so!read`, `com.acme.Cart.total`; the kind before the colon, the class before `!` or the last dot. */
interface Tree {
  self: number;
  total: number;
  children: Map<string, Tree>;
}

const KINDS = ['java', 'native', 'jvm', 'kernel', 'unknown'];

const emptyTree = (): Tree => ({ self: 0, total: 0, children: new Map() });

function splitName(name: string): { kind: number; cls: string; method: string } {
  const colon = name.indexOf(':');
  const kind = Math.max(0, KINDS.indexOf(name.slice(0, colon)));
  const rest = KINDS.includes(name.slice(0, colon)) ? name.slice(colon + 1) : name;
  const at = kind === 0 ? rest.lastIndexOf('.') : rest.indexOf('!');
  return { kind, cls: at < 0 ? '' : rest.slice(0, at), method: rest.slice(at + 1) };
}

class Builder {
  readonly strings = [''];
  private readonly stringIds = new Map([['', 0]]);
  readonly frames: SampleDocument['frames'] = { class: [], method: [], file: [], line: [], kind: [] };
  private readonly frameIds = new Map<string, number>();

  private stringId(text: string): number {
    const known = this.stringIds.get(text);
    if (known !== undefined) return known;
    this.stringIds.set(text, this.strings.length);
    return this.strings.push(text) - 1;
  }

  profile(type: string, unit: string, root: Tree): SampleProfile {
    const { frames, frameIds: ids } = this;
    const nodes: SampleProfile['nodes'] = { depth: [], frame: [], self: [] };
    const frameId = (name: string): number => {
      if (name === '') return -1;
      const known = ids.get(name);
      if (known !== undefined) return known;
      const { kind, cls, method } = splitName(name);
      frames.class.push(this.stringId(cls));
      frames.method.push(this.stringId(method));
      frames.file.push(0);
      frames.line.push(0);
      frames.kind.push(kind);
      ids.set(name, ids.size);
      return ids.size - 1;
    };
    const pending: [string, Tree, number][] = [['', root, 0]];
    while (pending.length > 0) {
      const [name, tree, depth] = pending.pop()!;
      nodes.depth.push(depth);
      nodes.frame.push(frameId(name));
      nodes.self.push(tree.self);
      for (const [child, subtree] of [...tree.children].sort().reverse()) pending.push([child, subtree, depth + 1]);
    }
    const total = root.total;
    return {
      type,
      unit,
      raw_total: String(total),
      value_total: String(total),
      samples: nodes.depth.length,
      nodes,
      omitted: { node: [], total: [], count: [] },
    };
  }
}

function treeOf(stacks: Record<string, number>): Tree {
  const root = emptyTree();
  for (const [stack, value] of Object.entries(stacks)) {
    let at = root;
    at.total += value;
    for (const name of stack.split(';').filter((part) => part !== '')) {
      if (!at.children.has(name)) at.children.set(name, emptyTree());
      at = at.children.get(name)!;
      at.total += value;
    }
    at.self += value;
  }
  return root;
}

/** Makes a document with one profile for each entry of `types`: collapsed stacks (root first, `;` between frames) with their values. */
export function sample(types: Record<string, { unit: string; stacks: Record<string, number> }>): SampleDocument {
  const builder = new Builder();
  const profiles = Object.entries(types).map(([type, { unit, stacks }]) => builder.profile(type, unit, treeOf(stacks)));
  return { version: 2, strings: builder.strings, frames: builder.frames, profiles, meta: {} };
}

export function cpuSample(stacks: Record<string, number>): SampleDocument {
  return sample({ cpu: { unit: 'ns', stacks } });
}

/** Returns a generator with the same sequence every time: numbers in [0, 1). */
export function sequence(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Makes a document of about `size` nodes with uneven weights, up to `depth` deep. */
export function largeSample(size: number, depth = 60): SampleDocument {
  const random = sequence(7);
  const packages = ['com.acme.shop', 'com.acme.cart', 'org.framework.web', 'org.framework.data', 'java.util', 'java.util.concurrent'];
  const name = (at: number) => {
    const pick = Math.floor(random() * 400);
    if (at > 6 && random() < 0.06) return `native:libc.so.6!func${pick % 40}`;
    if (at > 6 && random() < 0.03) return `jvm:libjvm.so!Runtime${pick % 30}::call`;
    return `${packages[pick % packages.length]}.Type${pick}.method${pick % 17}`;
  };
  const root = emptyTree();
  let nodes = 1;
  let path: Tree[] = [root];
  while (nodes < size) {
    const keep = 1 + Math.floor(random() ** 0.4 * (path.length - 1));
    path = path.slice(0, Math.min(keep, depth - 1));
    const length = 1 + Math.floor(random() * 10);
    for (let i = 0; i < length && path.length < depth; i++) {
      const parent = path[path.length - 1]!;
      const child = name(path.length);
      if (!parent.children.has(child)) {
        parent.children.set(child, emptyTree());
        nodes++;
      }
      path.push(parent.children.get(child)!);
    }
    const value = Math.ceil(10_000_000 * random() ** 8);
    path[path.length - 1]!.self += value;
    for (const tree of path) tree.total += value;
  }
  const builder = new Builder();
  const profile = builder.profile('cpu', 'ns', root);
  return { version: 2, strings: builder.strings, frames: builder.frames, profiles: [profile], meta: {} };
}
