// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import type { Target } from '../src/api/status.ts';
import { jvmOptions, nameOptions, poolOptions } from '../src/parts/frame/filters.ts';
import { coverageText, distanceText, endText, matchingTargets, overheadText, sortedTargets, tally } from '../src/parts/targets/targets.ts';
import { target } from './mock.ts';

const one = (change: Record<string, unknown>) => target(change) as unknown as Target;

const TARGETS = [
  one({ pid: 1, node: 'n2', pod: 'b' }),
  one({ pid: 2, node: 'n1', pod: 'a', jvm: '' }),
  one({ pid: 3, node: 'n1', state: 'off', pod: '' }),
  one({ pid: 4, node: 'n1', state: 'failed', jvm: 'ff' }),
];

const pids = (targets: Target[]) => targets.map(({ pid }) => pid);

describe('targets', () => {
  it('stand in the order of need', () => {
    expect(pids(sortedTargets(TARGETS))).toEqual([4, 2, 1, 3]);
  });

  it('are filtered by state, node, pod and JVM', () => {
    expect(pids(matchingTargets(TARGETS, { state: null, node: null }))).toEqual([1, 2, 3, 4]);
    expect(pids(matchingTargets(TARGETS, { state: 'profiling', node: 'n1' }))).toEqual([2]);
    expect(pids(matchingTargets(TARGETS, { state: null, pod: 'b' }))).toEqual([1]);
    expect(pids(matchingTargets(TARGETS, { pod: '', jvm: null }))).toEqual([3]);
    expect(pids(matchingTargets(TARGETS, { jvm: 'ff' }))).toEqual([4]);
    expect(matchingTargets(TARGETS, { state: 'profiling', node: 'elsewhere' })).toEqual([]);
  });

  it('are counted by value, the commonest first', () => {
    expect(tally(TARGETS, 'node')).toEqual([
      ['n1', 3],
      ['n2', 1],
    ]);
  });

  it('tell what they cost, as far as it is known', () => {
    expect(overheadText(one({ overhead: 0.005 }))).toMatchObject({ text: '0.50 %' });
    expect(overheadText(one({ overhead: null }))).toBeNull();
  });

  it('tell coverage, and the end of a temporary mode', () => {
    expect([coverageText(0.9994), coverageText(1), coverageText(null), coverageText(7)]).toEqual(['99.9 %', '100 %', null, '100 %']);
    const now = Date.parse('2026-01-31T10:00:00Z');
    expect(distanceText('2026-01-31T10:10:00Z', now)).toBe('in 10 min');
    expect(distanceText('2026-01-31T08:00:00Z', now)).toBe('2 h ago');
    expect(distanceText('2026-01-31T09:59:59Z', now)).toBe('1 s ago');
    expect(endText(one({ mode_until: '2026-01-31T10:10:00Z' }), now)).toBe('ends in 10 min');
    expect(endText(one({ mode_until: '2026-01-31T08:00:00Z' }), now)).toBe('ended 2 h ago');
    expect(endText(one({ mode_until: null }), now)).toBeNull();
  });
});

describe('filters', () => {
  it('offer each pod once, and the chosen one also when it is gone', () => {
    expect(nameOptions([...TARGETS, ...TARGETS], 'pod', 'gone\n').map(([value, name]) => `${value}|${name}`)).toEqual([
      'a|a',
      'b|b',
      'checkout-6d5f7-x2x9k|checkout-6d5f7-x2x9k',
      'gone\n|gone\u240a',
    ]);
  });

  it('offer the JVMs of the chosen pod that have an id', () => {
    expect(jvmOptions(TARGETS, 'b', null)).toEqual([['00000000000012ab', 'app · pid 1 · 17.0.9+9']]);
    expect(jvmOptions(TARGETS, 'a', null)).toEqual([]);
  });

  it('offer the pools that were sampled by name, and the chosen one', () => {
    expect(poolOptions(['main', '', 'exec-#'], 'idle')).toEqual([
      ['', '(no name)'],
      ['exec-#', 'exec-#'],
      ['main', 'main'],
      ['idle', 'idle'],
    ]);
  });
});
