// SPDX-License-Identifier: Apache-2.0
// Summarises the status rows of a service.
import { shorten, visibleText } from '@hotstack/flamegraph';
import type { Target } from '../api/status.ts';

export type Tone = 'good' | 'plain' | 'warn' | 'bad';

const TONES: Record<string, Tone> = { profiling: 'good', waiting: 'plain', off: 'plain', unsupported: 'warn', failed: 'bad', exited: 'plain' };

export function toneOf(state: string): Tone {
  return Object.hasOwn(TONES, state) ? TONES[state]! : 'warn';
}

export interface WhyNot {
  reason: string;
  message: string;
  fix: string;
  count: number;
}

export function reasonOf({ reason }: Target): string {
  return reason === 'none' ? '' : reason;
}

/** Returns the distinct reasons why targets have no data, the most common first. */
export function whyNot(targets: Target[]): WhyNot[] {
  const found = new Map<string, WhyNot>();
  for (const target of targets) {
    const reason = reasonOf(target);
    if (target.state === 'profiling' || reason === '') continue;
    const known = found.get(reason);
    if (known === undefined) found.set(reason, { reason, message: target.message, fix: target.fix, count: 1 });
    else known.count++;
  }
  return [...found.values()].sort((a, b) => b.count - a.count || a.reason.localeCompare(b.reason));
}

/** Returns `3 profiling, 1 failed`. */
export function stateSummary(targets: Target[]): string {
  const counts = new Map<string, number>();
  for (const { state } of targets) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([state, count]) => `${count} ${shorten(visibleText(state), 40)}`).join(', ');
}
