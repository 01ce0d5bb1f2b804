// SPDX-License-Identifier: Apache-2.0
// Values over time as shapes and words.
import { describe, expect, it } from 'vitest';
import { timelineAnswer, type TimelineAnswer } from '../src/api/timeline.ts';
import { bucketText, rates, rateWords, shapes, timelineText } from '../src/parts/graph/timeline.ts';

const answer = (values: (string | null)[], change: Partial<TimelineAnswer> = {}): TimelineAnswer => ({
  ...timelineAnswer(
    { bucket_ms: 10_000, values, type: 'cpu', unit: 'ns', meta: { from: '2026-01-31T09:00:00Z', to: '2026-01-31T09:00:25Z' } },
    '',
  ),
  ...change,
});

describe('a timeline', () => {
  const told = answer(['20000000000', null, '2500000000']);

  it('has rates by the true length of its buckets, of which the last is shorter', () => {
    expect(rates(told)).toEqual([2e9, null, 0.5e9]);
  });

  it('draws what is idle and what was not recorded apart', () => {
    expect(shapes(told)).toEqual({ bars: 'M0.00 0.00h400.00v40.00h-400.00zM800.00 30.00h200.00v10.00h-200.00z', gaps: 'M400.00 0.00h400.00v40.00h-400.00z' });
    expect(shapes(answer(['0', null, '0']))).toEqual({ bars: '', gaps: 'M400.00 0.00h400.00v40.00h-400.00z' });
  });

  it('is read in words', () => {
    expect(timelineText(told)).toMatch(/^CPU.*: 1\.5 cores on average, 2 cores at most, nothing recorded in 1 of 3 spans$/);
    expect(bucketText(told, 0.1)).toBe('2 cores');
    expect(bucketText(told, 0.5)).toBe('nothing recorded');
    expect(bucketText(told, 7)).toBe('0.5 cores');
  });

  it.each([
    ['cpu', 'ns', 1.2e9, '1.2 cores'],
    ['lock_delay', 'ns', 8.1e9, '8.1 s of waiting per second'],
    ['alloc_bytes', 'bytes', 340 * 1024 * 1024, '340 MiB per second'],
    ['lock_count', 'count', 12, '12 per second'],
  ])('of %s has units that people read', (type, unit, rate, words) => {
    expect(rateWords(type, unit, rate)).toBe(words);
  });
});
