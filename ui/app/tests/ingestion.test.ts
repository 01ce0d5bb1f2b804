// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { ingestionAnswer } from '../src/api/ingestion.ts';
import { barsOf, funnelOf } from '../src/parts/ingestion/outcomes.ts';

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
