// SPDX-License-Identifier: Apache-2.0
// Lanes of time: what the API tells, as bars to draw and words to read.
import type { Cell, Lane, Snapshot, StateCounts } from '../../api/threads.ts';
import { rectangle, type Span } from '../timeTrack.ts';
import { coresText } from '../words.ts';

export const STATES = ['RUNNABLE', 'BLOCKED', 'WAITING', 'TIMED_WAITING'] as const;
export type StateName = (typeof STATES)[number];

/** One span of a lane. Places are shares of the lane's width. */
export interface Bar {
  from: number;
  to: number;
  /** Null: the source tells no CPU time. */
  cores: number | null;
  states: StateCounts;
  waits: number;
}

const NONE: StateCounts = { RUNNABLE: 0, BLOCKED: 0, WAITING: 0, TIMED_WAITING: 0 };

/** How far a cell reaches back over empty ones: a snapshot stands for the time since the one before, which is a minute as a rule. */
const REACH_MS = 75_000;

/** Returns the cores of a cell, whose CPU is a sum over threads and snapshots: the average of a thread, times the number of threads at a time. */
function coresOfCell(cell: Cell): number | null {
  if (cell.interval_ms <= 0) return null;
  const threads = STATES.reduce((sum, state) => sum + cell[state], 0);
  return (cell.cpu_ns / (cell.interval_ms * 1e6)) * threads;
}

export function poolBars(cells: (Cell | null)[], bucketMs: number): Bar[] {
  const reach = Math.max(1, Math.floor(REACH_MS / bucketMs));
  const bars: Bar[] = [];
  let free = 0;
  cells.forEach((cell, index) => {
    if (cell === null) return;
    const from = Math.max(free, index + 1 - reach);
    free = index + 1;
    bars.push({ from: from / cells.length, to: free / cells.length, cores: coresOfCell(cell), states: cell, waits: cell.lock_waits });
  });
  return bars;
}

/** Returns one bar for each snapshot, which covers the time since the snapshot before. */
export function threadBars(snapshots: Snapshot[], from: number, to: number): Bar[] {
  const place = (time: number) => Math.min(1, Math.max(0, (time - from) / (to - from)));
  return snapshots.flatMap(({ time, interval_ms, cpu_ns, state, owner }) => {
    const end = Date.parse(time);
    const bar: Bar = {
      from: place(end - interval_ms),
      to: place(end),
      cores: cpu_ns === null || interval_ms <= 0 ? null : cpu_ns / (interval_ms * 1e6),
      states: (STATES as readonly string[]).includes(state) ? { ...NONE, [state]: 1 } : NONE,
      waits: state === 'BLOCKED' || owner !== null ? 1 : 0,
    };
    return bar.to > bar.from ? [bar] : [];
  });
}

/** Returns the cores of the full height, the same in all lanes so that users can compare them. At least a tenth of a core. */
export function fullHeight(lanes: Bar[][]): number {
  return lanes.flat().reduce((most, { cores }) => Math.max(most, cores ?? 0), 0.1);
}

/** The height of the band of states, and of all, in the drawing's own units. */
export const BAND = 8;
export const HEIGHT = 32;
const WIDTH = 1000;
export const VIEW_BOX = `0 0 ${WIDTH} ${HEIGHT}`;

export interface Drawing {
  cpu: string;
  waits: string;
  states: Record<StateName, string>;
}

/** Returns paths of SVG: CPU as height above, states as shares of the band below, lock waits as marks at the top. */
export function drawing(bars: Bar[], full: number): Drawing {
  const paths: Drawing = { cpu: '', waits: '', states: { RUNNABLE: '', BLOCKED: '', WAITING: '', TIMED_WAITING: '' } };
  const room = HEIGHT - BAND - 1;
  for (const { from, to, cores, states, waits } of bars) {
    const x = from * WIDTH;
    const width = (to - from) * WIDTH;
    const height = Math.min(1, (cores ?? 0) / full) * room;
    if (height > 0) paths.cpu += rectangle(x, room - height, width, height);
    if (waits > 0) paths.waits += rectangle(x, 0, width, 3);
    const total = STATES.reduce((sum, state) => sum + states[state], 0);
    let y = HEIGHT - BAND;
    for (const state of STATES) {
      const part = total === 0 ? 0 : (states[state] / total) * BAND;
      if (part > 0) paths.states[state] += rectangle(x, y, width, part);
      y += part;
    }
  }
  return paths;
}

/** Returns `3`, `0.5`: an average over snapshots. */
function averageText(count: number): string {
  return count < 0.1 ? '< 0.1' : String(Number(count.toFixed(1)));
}

/** Returns `1.2 cores; 3 runnable, 1.5 blocked, 30 waiting; 2 waiting for a lock` */
export function barText({ cores, states, waits }: Bar): string {
  const words: Record<StateName, string> = { RUNNABLE: 'runnable', BLOCKED: 'blocked', WAITING: 'waiting', TIMED_WAITING: 'timed waiting' };
  const counts = STATES.filter((state) => states[state] > 0).map((state) => `${averageText(states[state])} ${words[state]}`);
  const parts = [cores === null ? 'CPU not told' : coresText(cores), counts.join(', ')];
  if (waits > 0) parts.push(`${averageText(waits)} waiting for a lock`);
  return parts.filter((part) => part !== '').join('; ');
}

export function barAt(bars: Bar[], place: number): Bar | undefined {
  return bars.find(({ from, to }) => place >= from && place < to);
}

/** Describes the whole lane in a sentence, for readers who do not see it. */
export function laneText(bars: Bar[]): string {
  if (bars.length === 0) return 'no snapshots';
  const cores = bars.reduce((sum, bar) => sum + (bar.cores ?? 0), 0) / bars.length;
  const peak = fullHeight([bars]);
  const waits = bars.filter((bar) => bar.waits > 0).length;
  const blocked = bars.filter(({ states }) => states.BLOCKED > 0).length;
  const parts = [
    `${coresText(cores)} on average`,
    peak > 0.1 ? `${coresText(peak)} at most` : '',
    blocked > 0 ? `blocked in ${blocked} of ${bars.length} spans` : '',
  ];
  parts.push(waits > 0 ? `waits for locks in ${waits} of ${bars.length} spans` : '');
  return parts.filter((part) => part !== '').join(', ');
}

/** Sorts the heaviest first, and lanes with lock waits before idle ones. */
export function sortedLanes(lanes: Lane[]): Lane[] {
  const weight = ({ cells }: Lane) => cells.reduce((sum, cell) => sum + (cell?.cpu_ns ?? 0), 0);
  const waits = ({ cells }: Lane) => cells.reduce((sum, cell) => sum + (cell?.lock_waits ?? 0), 0);
  return [...lanes].sort((a, b) => weight(b) - weight(a) || waits(b) - waits(a) || a.pool.localeCompare(b.pool));
}

/** Reads `<from>-<to>-<pool>` of the address; null when there is none. */
export function readBrush(text: string): (Span & { pool: string }) | null {
  const match = /^(\d{1,16})-(\d{1,16})-(.*)$/s.exec(text);
  if (match === null || Number(match[1]) >= Number(match[2])) return null;
  return { from: Number(match[1]), to: Number(match[2]), pool: match[3]! };
}

export function writeBrush({ from, to }: Span, pool: string): string {
  return `${from}-${to}-${pool}`;
}

const FEWEST = 20;
const MOST = 120;

/** Buckets for a time range in ms: one a minute, as snapshots come, within what can be drawn. */
export function bucketsFor(length: number): number {
  return Math.min(MOST, Math.max(FEWEST, Math.round(length / 60_000)));
}
