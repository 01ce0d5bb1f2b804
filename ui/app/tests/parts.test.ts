// SPDX-License-Identifier: Apache-2.0
import { exactQuery } from '@hotstack/flamegraph';
import { describe, expect, it } from 'vitest';
import type { Target } from '../src/api/status.ts';
import type { ServiceRow } from '../src/api/types.ts';
import { chosenType, GROUPS, typesOf } from '../src/parts/graph/groups.ts';
import { ledgerShares } from '../src/parts/graph/ledger.ts';
import { matchingServices, rateText, sortedServices } from '../src/parts/services.ts';
import { stateSummary, toneOf, whyNot } from '../src/parts/status.ts';
import { rowName } from '../src/parts/graph/topNames.ts';

const shares = (ledger: Parameters<typeof ledgerShares>[0]) =>
  Object.fromEntries(ledgerShares(ledger).map(({ key, percent }) => [key, percent]));

describe('ledger', () => {
  it('says what share of the sampled whole is shown, and where the rest went', () => {
    expect(shares({ seen: '1000', omitted: '100', dropped: '60', truncated: '5' })).toEqual({
      shown: '84.0 %',
      omitted: '10.0 %',
      dropped: '6.00 %',
      truncated: '0.50 %',
    });
  });

  it('never rounds a loss away', () => {
    expect(shares({ seen: '18446744073709551616', omitted: '1' })).toMatchObject({ shown: '> 99.99 %', omitted: '< 0.01 %' });
  });

  it('takes an account without samples or with missing entries', () => {
    expect(shares({})).toMatchObject({ shown: '0 %', omitted: '0 %' });
    expect(shares({ seen: '5', omitted: '9' })['shown']).toBe('0 %');
  });
});

const target = (state: string, reason: string) => ({ state, reason, message: `about ${reason}`, fix: '' }) as Target;

describe('status', () => {
  it('groups the reasons, the commonest first, and leaves out what is well', () => {
    const targets = [target('failed', 'disk_full'), target('profiling', 'none'), target('off', 'disabled'), target('off', 'disabled')];
    expect(whyNot(targets).map(({ reason, count }) => [reason, count])).toEqual([
      ['disabled', 2],
      ['disk_full', 1],
    ]);
    expect(stateSummary(targets)).toBe('2 off, 1 failed, 1 profiling');
  });

  it('does not take an unknown state for good', () => {
    expect(toneOf('profiling')).toBe('good');
    expect(toneOf('valueOf')).toBe('warn');
  });
});

describe('groups', () => {
  it('fall back to their first type', () => {
    const alloc = GROUPS.find(({ key }) => key === 'alloc')!;
    expect(chosenType(alloc, 'alloc_objects')).toBe('alloc_objects');
    expect(chosenType(alloc, 'cpu')).toBe('alloc_bytes');
  });

  it('offer what only some services record where it is there, or asked for', () => {
    const alloc = GROUPS.find(({ key }) => key === 'alloc')!;
    const names = (present: string[], asked: string) => typesOf(alloc, new Set(present), asked).map(([type]) => type);
    expect(names([], 'alloc_bytes')).toEqual(['alloc_bytes', 'alloc_objects']);
    expect(names(['cpu', 'live_bytes', 'wall'], 'alloc_bytes')).toEqual(['alloc_bytes', 'alloc_objects', 'live_bytes']);
    expect(names([], 'nativemem_bytes')).toEqual(['alloc_bytes', 'alloc_objects', 'nativemem_bytes']);
    expect(chosenType(alloc, 'live_bytes')).toBe('live_bytes');
  });
});

const service = (namespace: string, workload: string, cpu?: string): ServiceRow => ({
  cluster: 'eu',
  namespace,
  workload,
  targets: 1,
  last_seen: '',
  types: cpu === undefined ? {} : { cpu: { raw_total: cpu, value_total: cpu, unit: 'ns' } },
});

describe('services', () => {
  const all = [service('a', 'idle'), service('b', 'big', '9000'), service('a', 'small', '10')];

  it('sort by weight, those without data last', () => {
    expect(sortedServices(all, 'cpu').map(({ workload }) => workload)).toEqual(['big', 'small', 'idle']);
    expect(sortedServices(all, 'workload').map(({ workload }) => workload)).toEqual(['big', 'idle', 'small']);
  });

  it('match every word of the filter', () => {
    expect(matchingServices(all, 'A sm').map(({ workload }) => workload)).toEqual(['small']);
    expect(matchingServices(all, '')).toHaveLength(3);
  });

  it('tell the rate over the range', () => {
    expect(rateText({ raw_total: '0', value_total: '90000000000', unit: 'ns' }, 60)).toBe('1.5 s/s');
    expect(rateText({ raw_total: '0', value_total: '62914560', unit: 'bytes' }, 60)).toBe('1 MiB/s');
  });
});

describe('top table', () => {
  it('names frames as the graphs do', () => {
    expect(rowName({ class: 'a.B', method: 'run' })).toBe('a.B.run');
    expect(rowName({ class: 'libc.so.6', method: 'read' })).toBe('libc.so.6.read');
    expect(rowName({ class: '', method: '' })).toBe('(no name)');
  });

  it('finds a name and nothing but it', () => {
    const query = new RegExp(exactQuery('a.B$1.<init>(x)'));
    expect(query.test('a.B$1.<init>(x)')).toBe(true);
    expect(query.test('a.B$1.<init>(x)y')).toBe(false);
    expect(query.test('aXB$1.<init>(x)')).toBe(false);
  });
});
