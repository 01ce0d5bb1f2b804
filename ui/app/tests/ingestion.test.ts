// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { ingestionAnswer, retentionAnswer } from '../src/api/ingestion.ts';
import { barsOf, funnelOf } from '../src/parts/ingestion/outcomes.ts';
import { formatLag, sumsInWords } from '../src/parts/ingestion/retention.ts';
import { retention } from './ledger.ts';

const answer = ingestionAnswer(
  {
    bucket_ms: 60_000,
    buckets: [
      { time: '2026-01-31T09:00:00.000Z', accepted: 4, duplicate: 1, rejected: 0, retry: 2, rows: 9 },
      { time: '2026-01-31T09:58:00.000Z', accepted: 1, duplicate: 0, rejected: 3, retry: 0, rows: 1 },
    ],
    outcomes: { accepted: 5, duplicate: 1, rejected: 3, retry: 2, rows: 10 },
    refused: [],
    events: { seen: '18446744073709551616', lost: '0', truncated: '3', dropped: '7' },
    dropped: { batches: 2, by_cause: { queue_full: 2 } },
    meta: { from: '2026-01-31T09:00:00.000Z', to: '2026-01-31T10:00:00.000Z' },
  },
  '',
);

describe('batches', () => {
  it('stand in the bucket of their time', () => {
    const { bars, slots, most } = barsOf(answer);
    expect([slots, most]).toEqual([60, 7]);
    expect(bars.map(({ slot, total }) => [slot, total])).toEqual([
      [0, 7],
      [58, 4],
    ]);
  });

  it('are told with every step on which something is lost', () => {
    const steps = Object.fromEntries(funnelOf(answer).map(([step, amount]) => [step, amount]));
    expect(steps).toMatchObject({ Seen: '18446744073709551616', Truncated: '3', Dropped: '7', 'Dropped batches': '2', 'Rejected batches': '3' });
  });
});

describe('retention', () => {
  const words = (rollups: Record<string, unknown>) => sumsInWords(retentionAnswer(retention({ rollups }), ''), Date.now()).join(' ');

  it.each([
    [0, 'none', false],
    [90, 'for 2 minutes', false],
    [6 * 3600, 'for 6 hours', false],
    [6 * 3600 + 1, 'for 6 hours: see whether the store merges', true],
  ])('calls %i s of expired rows by their time', (seconds, text, late) => {
    expect(formatLag(seconds)).toEqual({ words: text, late });
  });

  it('says how far the hourly sums are', () => {
    expect(words({})).toBe('Every closed hour is summed. This was checked 21 s ago.');
    expect(words({ pending_hours: 1 })).toContain('1 hour of a service wait');
    expect(words({ pending_hours: 3, failures: 2 })).toMatch(/^3 hours of services wait .* 2 checks failed since the backend began/);
    expect(words({ withdrawn: 1 })).toContain('1 sum did not match');
    expect(words({ looked: null })).toBe('This backend has not checked the hours yet.');
    expect(words({ looked: null, failures: 4 })).toContain('failed to check the hours 4 times');
  });
});
