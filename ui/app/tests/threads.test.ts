// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import {
  deadlockAnswer,
  lanesAnswer,
  threadsAnswer,
  type Cell,
  type LanesAnswer,
  type Snapshot,
  type Sources,
} from '../src/api/threads.ts';
import { awaitedText, cycleOf, deadlockText, heldText, isClosed, standing } from '../src/parts/threads/deadlocks.ts';
import {
  barAt,
  barText,
  bucketsFor,
  drawing,
  fullHeight,
  laneText,
  poolBars,
  readBrush,
  sortedLanes,
  threadBars,
  writeBrush,
} from '../src/parts/threads/lanes.ts';
import { telling } from '../src/parts/threads/PoolThreads.tsx';
import { chainOfLock, groupSlow } from '../src/parts/threads/slow.ts';
import { coresOf, spells } from '../src/parts/threads/spells.ts';
import {
  confidenceWord,
  cpuFigure,
  endWord,
  frameText,
  groupMissing,
  holderNote,
  lockKind,
  shortfalls,
  slowWord,
  topFrame,
  virtualName,
} from '../src/parts/threads/words.ts';
import { brushSpan, placeByKey } from '../src/parts/timeTrack.ts';
import { coresText } from '../src/parts/words.ts';
import { frame, lanes, NO_AGENT, oneDeadlock, SOURCES, threads } from './pool.ts';

const META = { from: null, to: null, truncated: false, fresh_until: null, nodes_omitted: 0, sampled: false, missing: [] };
const lock = (id: string) => ({ class: 'a.B', id, kind: 'monitor' });
const part = (java_tid: number, holds: string, waits: string) => ({ java_tid, holds: lock(holds), waits_for: lock(waits) });

describe('cycle', () => {
  it('follows the waiting, whatever order the answer has', () => {
    const cycle = cycleOf([part(1, 'a', 'b'), part(3, 'c', 'a'), part(2, 'b', 'c')]);
    expect(cycle.map(({ java_tid }) => java_tid)).toEqual([1, 2, 3]);
    expect(isClosed(cycle)).toBe(true);
  });

  it('keeps threads that do not belong, and does not call it closed', () => {
    const cycle = cycleOf([part(1, 'a', 'b'), part(9, 'x', 'y'), part(2, 'b', 'z')]);
    expect(cycle.map(({ java_tid }) => java_tid)).toEqual([1, 2, 9]);
    expect(isClosed(cycle)).toBe(false);
    expect(isClosed(cycleOf([part(1, 'a', 'a')]))).toBe(false);
    expect(cycleOf([])).toEqual([]);
  });

  it('tells locks of one identity hash apart by their class', () => {
    const other = { java_tid: 2, holds: { ...lock('b'), class: 'c.D' }, waits_for: lock('a') };
    expect(isClosed(cycleOf([part(1, 'a', 'b'), other]))).toBe(false);
  });

  it('of classes keeps the order of the answer, and is closed', () => {
    const one = { java_tid: 1, holds: null, waits_for: null, initialises: 'a.A' };
    const two = { ...one, java_tid: 2, initialises: 'a.B' };
    const cycle = cycleOf([one, two]);
    expect(cycle).toEqual([one, two]);
    expect(isClosed(cycle)).toBe(true);
    expect(awaitedText(one, two)).toBe('the initialisation of a.B');
    expect(heldText(one)).toBe('class a.A, which it initialises');
    expect(isClosed([one, part(2, 'a', 'b')])).toBe(false);
  });

  it('says when and why it ended', () => {
    expect(standing({ ended: null, end_reason: null })).toBe('lasts');
    expect(standing({ ended: '2026-01-31T10:00:00Z', end_reason: 'jvm_ended' })).toMatch(/^ended 2026-01-31 .*: the JVM ended$/);
    expect(endWord('constructor')).toBe('constructor');
  });
});

describe('deadlock as text', () => {
  const { deadlock } = deadlockAnswer({ ...oneDeadlock('00000000000012ab-00000000000000aa'), meta: META }, '');

  it('has threads, locks and the frames that hold and wait', () => {
    const text = deadlockText(deadlock);
    expect(text).toContain(
      'Deadlock of 2 threads\nlocal / shop / checkout, pod checkout-6d5f7-x2x9k, container app, node node-1, pid 4711\n',
    );
    expect(text).toContain('"transfer-1" tid=71\n');
    expect(text).toContain('    at com.acme.bank.Account.deposit (Account.java:40)\n      - waits for com.acme.bank.Account@11aa0000\n');
    expect(text).toContain('    at com.acme.bank.Transfer.run (Transfer.java:11)\n      - took com.acme.bank.Account@11aa0000\n');
    expect(text.endsWith('\n')).toBe(true);
  });

  it('calls one that the JVM has not found probable', () => {
    const threads = deadlock.threads.map((thread, index) => ({
      ...thread,
      holds: null,
      waits_for: null,
      held_at: -1,
      initialises: `a.${'AB'[index]}`,
    }));
    const text = deadlockText({ ...deadlock, inferred: true, threads });
    expect(text).toContain('Probable deadlock of 2 threads\n');
    expect(text).toContain('  probably waits for the initialisation of a.B\n  holds class a.A, which it initialises\n');
  });

  it('lets no name write lines or control a terminal', () => {
    const threads = deadlock.threads.map((thread) => ({ ...thread, name: 'x\n"root" tid=1\u001b[2J\u202e' }));
    const text = deadlockText({ ...deadlock, pod: 'p\nq', threads });
    expect(text.split('\n')).toHaveLength(deadlockText(deadlock).split('\n').length);
    expect(text).not.toMatch(/[\u001b\u202e]/);
  });
});

const cell = (change: Partial<Cell>): Cell => ({
  cpu_ns: 0,
  interval_ms: 30_000,
  RUNNABLE: 0,
  BLOCKED: 0,
  WAITING: 0,
  TIMED_WAITING: 0,
  lock_waits: 0,
  ...change,
});

describe('lanes', () => {
  const bars = poolBars(
    [
      cell({ cpu_ns: 90e9, interval_ms: 240_000, RUNNABLE: 3, BLOCKED: 1, lock_waits: 1 }),
      null,
      cell({ cpu_ns: 30e9, interval_ms: 240_000, WAITING: 4 }),
    ],
    60_000,
  );

  it('leave out spans without snapshots', () => {
    expect(bars.map(({ from, to, cores }) => [from.toFixed(2), to.toFixed(2), cores])).toEqual([
      ['0.00', '0.33', 1.5],
      ['0.67', '1.00', 0.5],
    ]);
    expect(barAt(bars, 0.5)).toBeUndefined();
    expect(barText(barAt(bars, 0.1)!)).toBe('1.5 cores; 3 runnable, 1 blocked; 1 waiting for a lock');
  });

  it('reach back to the snapshot before where buckets are shorter than the time between snapshots', () => {
    const one = cell({ cpu_ns: 15e9, RUNNABLE: 1 });
    const spans = poolBars([null, null, null, null, one, null, one, null, null, null, null, null, one], 30_000).map(({ from, to }) => [
      Math.round(from * 13),
      Math.round(to * 13),
    ]);
    expect(spans).toEqual([
      [3, 5],
      [5, 7],
      [11, 13],
    ]);
  });

  it('have as many buckets as there are minutes, within bounds', () => {
    expect([300_000, 3_600_000, 7 * 86_400_000].map(bucketsFor)).toEqual([20, 60, 120]);
  });

  it('tell averages, and no CPU where no snapshot has it', () => {
    const [bar] = poolBars([cell({ interval_ms: 0, WAITING: 2.54, lock_waits: 0.02 })], 60_000);
    expect(barText(bar!)).toBe('CPU not told; 2.5 waiting; < 0.1 waiting for a lock');
  });

  it('have CPU as height of the common scale, and states as shares of their band', () => {
    const { cpu, waits, states } = drawing(bars, fullHeight([bars]));
    expect(cpu).toBe('M0.00 0.00h333.33v23.00h-333.33zM666.67 15.33h333.33v7.67h-333.33z');
    expect(states.RUNNABLE).toBe('M0.00 24.00h333.33v6.00h-333.33z');
    expect(states.BLOCKED).toBe('M0.00 30.00h333.33v2.00h-333.33z');
    expect(waits).toBe('M0.00 0.00h333.33v3.00h-333.33z');
  });

  it('stay within their height, and say in words what they show', () => {
    expect(drawing(bars, 0.5).cpu.startsWith('M0.00 0.00h')).toBe(true);
    expect(fullHeight([[], bars])).toBe(1.5);
    expect(fullHeight([])).toBe(0.1);
    expect(laneText(bars)).toBe('1 core on average, 1.5 cores at most, blocked in 1 of 2 spans, waits for locks in 1 of 2 spans');
    expect(laneText([])).toBe('no snapshots');
  });

  it('of one thread reach back over the interval of each snapshot', () => {
    const snapshot = (time: number, change: Partial<Snapshot>): Snapshot => ({
      time: new Date(time).toISOString(),
      state: 'RUNNABLE',
      cpu_ns: 5e9,
      interval_ms: 10_000,
      lock: null,
      owner: null,
      stack: [],
      ...change,
    });
    const [first, second, ...rest] = threadBars(
      [snapshot(5_000, {}), snapshot(50_000, { state: 'BLOCKED', cpu_ns: null }), snapshot(200_000, {})],
      0,
      100_000,
    );
    expect(first).toMatchObject({ from: 0, to: 0.05, cores: 0.5, waits: 0, states: { RUNNABLE: 1 } });
    expect(second).toMatchObject({ from: 0.4, to: 0.5, cores: null, waits: 1, states: { BLOCKED: 1 } });
    expect(barText(second!)).toBe('CPU not told; 1 blocked; 1 waiting for a lock');
    expect(rest).toEqual([]);
    expect(threadBars([snapshot(5_000, { state: 'constructor' })], 0, 100_000)[0]!.states.RUNNABLE).toBe(0);
  });

  const answer = lanesAnswer({ ...lanes(0, 3_600_000, 120), meta: META }, '') as LanesAnswer;

  it('are sorted by what they cost, then by waiting', () => {
    expect(
      sortedLanes(answer.lanes)
        .map(({ pool }) => pool)
        .slice(0, 2),
    ).toEqual(['http-nio-8080-exec-#', 'search-index-writer']);
    expect(
      sortedLanes([
        { pool: 'idle', threads: 1, cells: [] },
        { pool: 'jam', threads: 1, cells: [cell({ lock_waits: 2 })] },
      ])[0]!.pool,
    ).toBe('jam');
  });

  it('give the brush whole buckets in any direction', () => {
    expect(brushSpan(answer, 0.51, 0.26)).toEqual({ from: 930_000, to: 1_860_000 });
    expect(brushSpan(answer, 0.5, 0.5)).toEqual({ from: 1_770_000, to: 1_830_000 });
    expect(brushSpan(answer, -3, 7)).toEqual({ from: 0, to: 3_600_000 });
  });

  it('are walked by keys from bucket to bucket, from either end', () => {
    const hour = { from: '2026-01-31T09:00:00Z', to: '2026-01-31T10:00:00Z', bucket_ms: 900_000 };
    expect(['ArrowRight', 'ArrowLeft', 'Home', 'End', 'x'].map((key) => placeByKey(key, null, hour))).toEqual([0.125, 0.875, 0.125, 0.875, null]);
    expect(['ArrowRight', 'ArrowLeft', 'Home', 'End'].map((key) => placeByKey(key, 0.375, hour))).toEqual([0.625, 0.125, 0.125, 0.875]);
    expect([placeByKey('ArrowLeft', 0.1, hour), placeByKey('ArrowRight', 0.9, hour)]).toEqual([0.125, 0.875]);
  });

  it('keep the brush in the address', () => {
    expect(readBrush(writeBrush({ from: 1, to: 2 }, 'a-b\n#'))).toEqual({ from: 1, to: 2, pool: 'a-b\n#' });
    for (const text of ['', '5-4-x', 'a-b-c', '1-2']) expect(readBrush(text)).toBeNull();
  });

  it('unfold to busy threads, then slow ones, each once', () => {
    const found = telling(threadsAnswer({ ...threads('http-nio-8080-exec-#'), meta: META }, ''));
    expect(found.map(({ java_tid }) => java_tid)).toEqual([34, 35, ...Array.from({ length: 12 }, (_, index) => 46 + index), 40, 44, 45]);
  });
});

describe('slow threads', () => {
  const { slow } = threadsAnswer({ ...threads(null), meta: META }, '');

  it('that are alike are one row, by the one that has waited longest', () => {
    const groups = groupSlow(slow);
    expect(groups.map(({ first, others }) => [first.name, others.length])).toEqual([
      ['http-nio-8080-exec-49', 11],
      ['http-nio-8080-exec-40', 0],
      ['http-nio-8080-exec-44', 0],
      ['http-nio-8080-exec-45', 0],
      ['transfer-1', 0],
    ]);
    expect(groupSlow([slow[0]!, { ...slow[1]!, jvm: 'other' }])).toHaveLength(2);
  });

  it('give a lock its chain to the thread that runs', () => {
    const lock = { ...slow[0]!.lock!, jvm: slow[0]!.jvm };
    expect(chainOfLock(lock, slow)).toEqual(['http-nio-8080-exec-46', 'http-nio-8080-exec-1']);
    expect(chainOfLock({ ...lock, id: 'ffffffff' }, slow)).toEqual([]);
  });
});

describe('spells', () => {
  const at = (minute: number, state: string, cpu_ns: number | null): Snapshot => ({
    time: `2026-01-31T10:0${minute}:00Z`,
    state,
    cpu_ns,
    interval_ms: 60_000,
    lock: null,
    owner: null,
    stack: [],
  });

  it('join equal snapshots in a row, the newest first', () => {
    const found = spells([at(1, 'RUNNABLE', 30e9), at(2, 'RUNNABLE', 60e9), at(3, 'WAITING', null), at(4, 'RUNNABLE', 0)]);
    expect(found.map(({ snapshots }) => snapshots.map(({ time }) => time.slice(14, 16)))).toEqual([['04'], ['03'], ['02', '01']]);
    expect(found.map(coresOf)).toEqual([0, null, 0.75]);
  });
});

describe('words', () => {
  it.each([
    [0, '0 cores'],
    [0.0001, '< 0.01 cores'],
    [0.833, '0.83 cores'],
    [1.001, '1 core'],
    [1.2, '1.2 cores'],
    [31.96, '32 cores'],
    [NaN, '0 cores'],
  ])('%d is %s', (cores, words) => {
    expect(coresText(cores)).toBe(words);
  });

  it('have the exact figure beside the rounded one', () => {
    expect(cpuFigure({ cpu_ns: 49_812_345_678, interval_ms: 60_000 })).toBe('49,812,345,678 ns of CPU in 1 min');
  });

  it('claim no confidence that this version does not know', () => {
    expect(confidenceWord('exact_cpu').name).toBe('exact CPU');
    expect(confidenceWord('toString')).toEqual({ name: 'toString', explanation: 'This page does not know how the figure was found.' });
    expect(slowWord('ne\nw').name).toBe('ne\u240aw');
    expect(lockKind('juc').name).toBe('j.u.c.');
    expect(holderNote('java')).toBe('');
    expect(holderNote('ended')).toBe('has ended');
    expect(holderNote('toString')).toBe('toString');
  });

  it('name virtual threads by their number', () => {
    expect(virtualName({ java_tid: 30, name: '' })).toBe('#30');
    expect(virtualName({ java_tid: 30, name: 'vt' })).toBe('#30 vt');
  });

  it('name frames with their source, made safe', () => {
    expect(frameText(frame('com.acme.Cart.total', 42))).toBe('com.acme.Cart.total (Cart.java:42)');
    expect(frameText({ class: 'libc.so.6', method: 'read', file: '', line: 0, kind: 'native' })).toBe('libc.so.6.read');
    expect(frameText({ ...frame('a.B.c'), file: 'x\u202ey' })).toBe('a.B.c (x\u27e8202E\u27e9y)');
    expect(frameText({ ...frame('a.B.c', 7), file: '' })).toBe('a.B.c (line 7)');
    expect(topFrame([])).toBe('');
  });

  it('join missing sources of several JVMs', () => {
    expect(groupMissing(NO_AGENT.missing).map(({ reason, jvms }) => [reason, jvms])).toEqual([['no_thread_agent', 2]]);
  });

  it('say what an answer is short of, with the next step', () => {
    const cut: Sources = { ...SOURCES, threads_cut: 3000, stacks_cut: 1, no_cpu: 2 };
    expect(shortfalls(SOURCES, META)).toEqual([]);
    expect(
      shortfalls(cut, { ...META, truncated: true, nodes_omitted: 1, missing: ['stacks'] }).map((sentence) => sentence.split('.')[0]),
    ).toEqual([
      'The query stopped at its budget, so this is less than the whole',
      'The store did not give: stacks',
      '1 row was left off the end of the list',
      '3,000 snapshots hold fewer threads than the JVM has',
      '1 snapshot lacks stacks of threads that matter: taking them would have stopped the JVM for too long',
      'In 2 snapshots the JVM told no CPU times: there a thread counts as busy by how often it was seen running',
    ]);
  });
});
