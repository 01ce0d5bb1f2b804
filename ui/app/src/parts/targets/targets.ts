// SPDX-License-Identifier: Apache-2.0
// The list of JVMs: filters, their choices, and words.
import { formatPercent } from '@hotstack/flamegraph';
import type { Target } from '../../api/status.ts';
import { toneOf, type Tone } from '../status.ts';

const URGENCY: Record<Tone, number> = { bad: 0, warn: 1, plain: 2, good: 3 };
const LAST = 4;

/** Those that need a look come first; those that nobody asked for or that are gone come last. */
const urgencyOf = ({ state }: Target) => (state === 'off' || state === 'exited' ? LAST : URGENCY[toneOf(state)]);

/** Sorts targets that need attention first, then by place. */
export function sortedTargets(targets: Target[]): Target[] {
  const place = (target: Target) => `${target.namespace}\0${target.workload}\0${target.pod}\0${target.node}`;
  return [...targets].sort(
    (a, b) => urgencyOf(a) - urgencyOf(b) || place(a).localeCompare(place(b)) || a.pid - b.pid,
  );
}

/** The properties of a target that a page can be narrowed to. */
type Wanted = 'state' | 'node' | 'pod' | 'container' | 'jvm' | 'version';

/** Returns targets with all the wanted values; null = any. */
export function matchingTargets(targets: Target[], wanted: Partial<Record<Wanted, string | null>>): Target[] {
  const set = Object.entries(wanted).filter(([, value]) => value !== null) as [Wanted, string][];
  return targets.filter((target) => set.every(([key, value]) => target[key] === value));
}

/** Returns the number of targets with each value, the most common first. */
export function tally(targets: Target[], key: 'state' | 'node'): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const target of targets) counts.set(target[key], (counts.get(target[key]) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

/** Returns `94.0 %`, the recorded share of the last window; null where it was not reported. */
export function coverageText(coverage: number | null): string | null {
  return coverage === null ? null : formatPercent(Math.min(1, Math.max(0, coverage)), 1);
}

/** Returns `0.31 %` of a core, with an explanation; null where it is not known. */
export function overheadText({ overhead }: Pick<Target, 'overhead'>): { text: string; title: string } | null {
  if (overhead === null) return null;
  return {
    text: formatPercent(Math.max(0, overhead), 1),
    title: "Of one core, in the last window: fetching and reading by the collector, without the profiler's work inside the JVM",
  };
}

/** Returns `ends in 5 min`, `ended 2 h ago`; null where the mode has no end. */
export function endText({ mode_until }: Target, now: number): string | null {
  if (mode_until === null) return null;
  return `${Date.parse(mode_until) < now ? 'ended' : 'ends'} ${distanceText(mode_until, now)}`;
}

/** Returns `in 5 min`, `2 h ago`: how far a time is from now. */
export function distanceText(time: string, now: number): string {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  const away = Math.abs(seconds);
  const text =
    away < 90
      ? `${away} s`
      : away < 5400
        ? `${Math.round(away / 60)} min`
        : away < 129_600
          ? `${Math.round(away / 3600)} h`
          : `${Math.round(away / 86_400)} d`;
  return seconds >= 0 ? `in ${text}` : `${text} ago`;
}
