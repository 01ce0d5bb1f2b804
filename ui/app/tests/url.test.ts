// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { codeOfFragment, deadlockAddress, loginAddress, nextAfterLogin, pageAddress, serviceAddress, tabAddress, threadAddress } from '../src/url/address.ts';
import { formatAgo, formatMoment, parseRange, rangeKey, refreshInterval, resolveRange, writeRange, type TimeRange } from '../src/url/range.ts';

const search = (text: string) => new URLSearchParams(text);
const NOON = Date.parse('2026-01-31T12:00:00.000Z');

describe('time range', () => {
  it.each<[string, TimeRange]>([
    ['', { preset: '15m' }],
    ['range=7d', { preset: '7d' }],
    ['range=9h', { preset: '15m' }],
    ['range=constructor', { preset: '15m' }],
    ['from=2026-01-31T12:00:00Z&to=2026-01-31T12:10:00Z', { from: NOON, to: NOON + 600_000 }],
    [`from=${NOON}&to=${NOON + 1}`, { from: NOON, to: NOON + 1 }],
    ['from=2026-01-31T12:00:00Z&to=2026-01-31T11:00:00Z&range=1h', { preset: '1h' }],
    ['from=yesterday&to=today', { preset: '15m' }],
    ['from=2026-01-31T12:00:00Z', { preset: '15m' }],
  ])('of ?%s is %j', (text, range) => {
    expect(parseRange(search(text))).toEqual(range);
  });

  it.each<[TimeRange]>([[{ preset: '24h' }], [{ from: NOON, to: NOON + 5000 }]])('%j survives the address', (range) => {
    const written = search('range=5m&from=1&q=x');
    writeRange(written, range);
    expect(parseRange(written)).toEqual(range);
    expect(written.get('q')).toBe('x');
  });

  it('moves in steps, so that polls can share an answer', () => {
    const at = (now: number) => resolveRange({ preset: '5m' }, now);
    expect(at(NOON + 1)).toEqual(at(NOON + 9_999));
    expect(at(NOON + 1)).toEqual({ from: NOON - 290_000, to: NOON + 10_000 });
  });

  it('keeps one key while it moves', () => {
    expect(rangeKey({ preset: '5m' })).toBe('5m');
    expect(rangeKey({ from: 1, to: 2 })).toBe('1-2');
  });

  it('is not asked again once it lies in the past', () => {
    expect(refreshInterval({ from: NOON - 9e6, to: NOON - 8e6 }, NOON)).toBe(false);
    expect(refreshInterval({ from: NOON - 9e6, to: NOON }, NOON)).toBeGreaterThan(0);
    expect(refreshInterval({ preset: '5m' }, NOON)).toBeLessThan(refreshInterval({ preset: '7d' }, NOON) as number);
  });

  it.each([
    [12, '12 s ago'],
    [600, '10 min ago'],
    [7200, '2 h ago'],
    [3 * 86400, '3 d ago'],
    [-5, '0 s ago'],
  ])('%d s back is %s', (seconds, expected) => {
    expect(formatAgo(new Date(NOON - seconds * 1000).toISOString(), NOON)).toBe(expected);
  });
});

describe('addresses of a service', () => {
  const service = { cluster: 'eu', namespace: '', workload: 'a/b' };
  const now = search('range=1h&pod=p&pool=x-%23&q=find&open=7');

  it('carry range and filters between its pages, and nothing else', () => {
    expect(tabAddress(service, now, 'locks')).toBe('/services/-/a%2Fb/locks?range=1h&pod=p&pool=x-%23&cluster=eu');
    expect(threadAddress(service, now, { jvm: '00ff', java_tid: 7 })).toBe('/services/-/a%2Fb/threads/00ff/7?range=1h&pod=p&pool=x-%23&cluster=eu');
    const all = 'pod=p&container=c&jvm=00ff&version=7.1&pool=x';
    expect(tabAddress(service, search(all), 'cpu')).toBe(`/services/-/a%2Fb/cpu?${all}&cluster=eu`);
    expect(serviceAddress(service, now)).toBe('/services/-/a%2Fb?range=1h&cluster=eu');
    expect(deadlockAddress('1-2', now)).toBe('/deadlocks/1-2?range=1h');
  });

  it('take a selected span in place of the range', () => {
    const to = tabAddress(service, now, 'cpu', { from: '1', to: '2', pool: 'y' });
    expect(to).toBe('/services/-/a%2Fb/cpu?pod=p&pool=y&cluster=eu&from=1&to=2');
  });
});

describe('formatMoment', () => {
  it('leaves out the day of today', () => {
    const now = new Date(2026, 0, 31, 12, 0, 0);
    expect(formatMoment(new Date(2026, 0, 31, 9, 5, 7).toISOString(), now.getTime())).toBe('09:05:07');
    expect(formatMoment(new Date(2026, 0, 30, 9, 5, 7).toISOString(), now.getTime())).toBe('2026-01-30 09:05:07');
  });
});

describe('addresses', () => {
  it('carry range and refresh along, and nothing else', () => {
    expect(pageAddress('/services', search('range=1h&q=x&live=off&cpu=cpu'))).toBe('/services?range=1h&live=off');
  });

  it('encode names', () => {
    const service = { cluster: 'eu/1', namespace: 'a b', workload: 'x?y#z' };
    expect(serviceAddress(service, search('range=1h'))).toBe('/services/a%20b/x%3Fy%23z?range=1h&cluster=eu%2F1');
  });

  it('write an empty namespace as a dash', () => {
    expect(serviceAddress({ cluster: null, namespace: '', workload: 'demo' }, search(''))).toBe('/services/-/demo');
  });

  it.each([
    ['/services?range=1h', '/services?range=1h'],
    ['//evil.example', '/services'],
    ['/\\evil.example', '/services'],
    ['https://evil.example', '/services'],
    ['', '/services'],
  ])('go to %s after login as %s', (next, expected) => {
    expect(nextAfterLogin(search(`next=${encodeURIComponent(next)}`))).toBe(expected);
  });

  it('remember where login was asked for', () => {
    expect(loginAddress('/services/a/b?range=1h')).toBe('/login?next=%2Fservices%2Fa%2Fb%3Frange%3D1h');
    expect(loginAddress('/login')).toBe('/login');
  });

  it.each([
    ['#code=abc', 'abc'],
    ['#code=a%2Bb', 'a+b'],
    ['#other', null],
    ['', null],
  ])('hold the code of %j', (hash, code) => {
    expect(codeOfFragment(hash)).toBe(code);
  });
});
