// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { readDocument } from '../src/document/document.ts';
import { nextMatch, searching } from '../src/lens/search.ts';
import { cpuSample } from './sample.ts';

const profile = readDocument(
  cpuSample({ 'com.Cart.total;com.Cart.sum;com.Cart.total': 30, 'com.Cart.total;java.Map.get': 20, 'com.Pay.run;java.Map.get': 50 }),
).profiles[0]!;

/** Searches without a pause. */
function search(...what: Parameters<typeof searching>) {
  const work = searching(...what);
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

const found = (query: string) => {
  const result = search(profile, query)!;
  return { labels: Array.from(result.nodes, (node) => profile.label(node)), total: result.total };
};

describe('search', () => {
  it('is off for an empty query', () => {
    expect(search(profile, '')).toBeNull();
  });

  it('counts a match inside a match once', () => {
    expect(found('Cart')).toEqual({ labels: ['com.Cart.total', 'com.Cart.sum', 'com.Cart.total'], total: 50 });
  });

  it('adds up matches in different stacks', () => {
    expect(found('Map\\.get')).toEqual({ labels: ['java.Map.get', 'java.Map.get'], total: 70 });
  });

  it('takes regular expressions, in any case', () => {
    expect(found('^com\\.(pay|none)').total).toBe(50);
  });

  it('steps to the heaviest match first', () => {
    const { nodes } = search(profile, 'get|sum')!;
    const walk = (by: number) => {
      const path = [nextMatch(profile, nodes, -1, by)];
      while (path.length < 5) path.push(nextMatch(profile, nodes, path[path.length - 1]!, by));
      return path.map((node) => profile.total[node]);
    };
    expect(walk(1)).toEqual([50, 30, 20, 50, 30]);
    expect(walk(-1)).toEqual([20, 30, 50, 20, 30]);
  });

  it('searches a broken expression as text', () => {
    const result = search(profile, 'total(')!;
    expect(result).toMatchObject({ isRegex: false, total: 0 });
  });

  it('says so when nothing matches', () => {
    expect(found('nothing like it')).toEqual({ labels: [], total: 0 });
  });
});
