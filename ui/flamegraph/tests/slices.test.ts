// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readDocument } from '../src/document/document.ts';
import { searching } from '../src/lens/search.ts';
import { inSlices } from '../src/lens/slices.ts';
import { cpuSample, largeSample } from './sample.ts';

/** The time of the clock, which moves when work is done. */
let clock = 0;

beforeEach(() => {
  clock = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Works for `steps` steps of 3 ms; `log` gets the time of each. */
function* walk(steps: number, log: number[]): Generator<undefined, string> {
  for (let step = 0; step < steps; step++) {
    log.push(clock);
    clock += 3;
    yield;
  }
  return 'done';
}

describe('inSlices', () => {
  it('does short work at once', () => {
    const results: string[] = [];
    inSlices(walk(2, []), (result) => results.push(result));
    expect(results).toEqual(['done']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves longer work to timers, a few steps each', () => {
    const log: number[] = [];
    const results: string[] = [];
    inSlices(walk(10, log), (result) => results.push(result));
    const slices = [log.length];
    while (vi.getTimerCount() > 0) {
      const before = log.length;
      vi.runOnlyPendingTimers();
      slices.push(log.length - before);
    }
    // Three steps of 3 ms are more than 8 ms.
    expect(slices).toEqual([3, 3, 3, 1]);
    expect(results).toEqual(['done']);
  });

  it('stops when it is told to', () => {
    const log: number[] = [];
    const stop = inSlices(walk(10, log), () => expect.unreachable());
    stop();
    vi.runAllTimers();
    expect(log).toHaveLength(3);
  });
});

describe('searching', () => {
  const steps = (document: Parameters<typeof readDocument>[0], query: string) => {
    const work = searching(readDocument(document).profiles[0]!, query);
    let count = 1;
    let step = work.next();
    for (; !step.done; step = work.next()) count++;
    return { count, matches: step.value };
  };

  it('never pauses in a small graph', () => {
    expect(steps(cpuSample({ 'a.A.run;a.B.load': 1 }), 'load').count).toBe(1);
  });

  it('can be left every few thousand nodes, with the same result', () => {
    const document = largeSample(50_000);
    const { count, matches } = steps(document, 'framework');
    const profile = readDocument(document).profiles[0]!;
    expect(count).toBeGreaterThanOrEqual(Math.floor(profile.nodeCount / 16_384) + Math.floor(profile.frameCount / 256));
    const found = Array.from({ length: profile.nodeCount }, (_, node) => node).filter((node) => profile.label(node).includes('framework'));
    expect([...matches!.nodes]).toEqual(found);
    const outermost = found.filter((node) => !profile.ancestry(node).slice(0, -1).some((above) => profile.label(above).includes('framework')));
    expect(matches!.total).toBe(outermost.reduce((sum, node) => sum + profile.total[node]!, 0));
  });
});
