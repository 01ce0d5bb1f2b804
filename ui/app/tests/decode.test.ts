// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { amount, list, or, orNull, record, text, time } from '../src/api/decode.ts';
import { statusAnswer } from '../src/api/status.ts';
import { deadlockAnswer, deadlocksAnswer, lanesAnswer, locksAnswer, threadAnswer, threadsAnswer } from '../src/api/threads.ts';
import { target } from './mock.ts';
import * as pool from './pool.ts';

describe('decoders', () => {
  const row = record({ name: text, size: amount, at: orNull(time), note: or(text, 'none') });

  it('take what fits, and leave out what is not asked for', () => {
    expect(list(row)([{ name: 'a', size: '18446744073709551616', at: null, more: 1 }], 'rows')).toEqual([
      { name: 'a', size: 18446744073709551616, at: null, note: 'none' },
    ]);
  });

  it.each([
    [
      [
        { name: 'a', size: 1 },
        { name: 7, size: 1 },
      ],
      '"rows[1].name" is not a text',
    ],
    [[{ name: 'a', size: 'many' }], '"rows[0].size" is not a number'],
    [[{ name: 'a', size: NaN }], '"rows[0].size" is not a number'],
    [[{ name: 'a', size: 1, at: 'soon' }], '"rows[0].at" is not a time'],
    [[null], '"rows[0]" is not an object'],
    [{}, '"rows" is not a list'],
  ])('refuse %j: %s', (json, message) => {
    expect(() => list(row)(json, 'rows')).toThrow(message);
  });
});

/** Sums come as decimal strings. */
function withNumbers(body: object): object {
  const sums = ['cpu_ns', 'interval_ms'];
  return JSON.parse(JSON.stringify(body), (key, value) => (sums.includes(key) && value !== null ? Number(value) : value)) as object;
}

describe('answers', () => {
  const meta = { truncated: false };
  it.each([
    ['threads', threadsAnswer, pool.threads(null)],
    ['lanes', lanesAnswer, pool.lanes(0, 60_000, 12)],
    ['one thread', threadAnswer, pool.oneThread(31, 0, 600_000)],
    ['locks', locksAnswer, pool.locks()],
    ['deadlocks', deadlocksAnswer, pool.deadlocks(null)],
    ['one deadlock', deadlockAnswer, pool.oneDeadlock('00000000000012ab-00000000000000aa')!],
    ['status', statusAnswer, { targets: [target({})] }],
  ])('about %s are read in full', (_name, decode, body) => {
    const read = decode({ ...body, meta }, '') as Record<string, unknown>;
    expect({ ...read, meta }).toEqual({ ...withNumbers(body), meta });
  });

  it('of a collector that tells less about a JVM are read, too', () => {
    const { service, jvm, mode, mode_until, session, coverage, overhead, ...less } = target({});
    expect([service, jvm, mode, mode_until, session, coverage, overhead]).not.toContain(undefined);
    expect(statusAnswer({ targets: [less], meta }, '').targets[0]).toMatchObject({
      service: '',
      jvm: '',
      mode: '',
      mode_until: null,
      session: '',
      coverage: null,
      overhead: null,
    });
  });

  it('without their list are refused by name', () => {
    expect(() => threadsAnswer({ ...pool.threads(null), busy: null, meta }, '')).toThrow('"busy" is not a list');
    expect(() => locksAnswer({ locks: [{ ...(pool.locks()['locks'] as object[])[0], waits: null }], meta }, '')).toThrow(
      '"locks[0].waits" is not a number',
    );
  });
});
