// SPDX-License-Identifier: Apache-2.0
// Search over frame names. A profile has thousands of distinct frames and up to millions of nodes: the expression runs once per frame.
import type { Profile } from '../document/profile.ts';

/** Longer names are searched up to here, so that one hostile name cannot hold the page. */
const MAX_SEARCHED = 4096;
/** How many names are tested, and how many nodes looked at, before there may be a pause. */
const NAMES = 256;
const NODES = 16_384;

export interface Matches {
  /** By frame: 1 = the name matches. */
  frames: Uint8Array;
  /** Matching nodes, in preorder. */
  nodes: Int32Array;
  /** Value under matching nodes, a recursion counted once. */
  total: number;
  /** False when the query is no regular expression and was searched as plain text. */
  isRegex: boolean;
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Returns a query that finds this name and no other. */
export function exactQuery(name: string): string {
  return `^${escaped(name)}$`;
}

export function compileQuery(query: string): { regex: RegExp; isRegex: boolean } {
  try {
    return { regex: new RegExp(query, 'i'), isRegex: true };
  } catch {
    return { regex: new RegExp(escaped(query), 'i'), isRegex: false };
  }
}

/** Returns null for an empty query. The caller runs it to its end, at once or with pauses where it yields. */
export function* searching(profile: Profile, query: string): Generator<undefined, Matches | null> {
  if (query === '') return null;
  const { regex, isRegex } = compileQuery(query);
  const frames = new Uint8Array(profile.frameCount);
  for (let frame = 0; frame < frames.length; frame++) {
    if (frame % NAMES === NAMES - 1) yield;
    if (regex.test(profile.frames.label(frame).slice(0, MAX_SEARCHED))) frames[frame] = 1;
  }
  const nodes = new Int32Array(profile.nodeCount);
  let count = 0;
  let total = 0;
  let coveredTo = 0;
  for (let node = 1; node < profile.nodeCount; node++) {
    if (node % NODES === NODES - 1) yield;
    if (frames[profile.frame[node]!] === 0) continue;
    nodes[count++] = node;
    if (node >= coveredTo) {
      total += profile.total[node]!;
      coveredTo = profile.end[node]!;
    }
  }
  return { frames, nodes: nodes.slice(0, count), total, isRegex };
}

/**
 * The match that follows (`by` > 0) or precedes another one, heaviest first; from -1 the first or the last. Found by looking through,
 * for there may be hundreds of thousands and few are ever stepped to.
 */
export function nextMatch({ total }: Profile, nodes: Int32Array, from: number, by: number): number {
  const isBefore = (a: number, b: number) => total[a]! > total[b]! || (total[a] === total[b] && a < b);
  const inOrder = (a: number, b: number) => (by > 0 ? isBefore(a, b) : isBefore(b, a));
  let best = -1;
  for (const node of nodes) {
    if (from >= 0 && !inOrder(from, node)) continue;
    if (best < 0 || inOrder(node, best)) best = node;
  }
  return best < 0 && from >= 0 ? nextMatch({ total } as Profile, nodes, -1, by) : best;
}
