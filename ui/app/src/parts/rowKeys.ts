// SPDX-License-Identifier: Apache-2.0
import type { KeyboardEvent } from 'react';

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

/** For a table's body: the arrow keys move between the rows' links and buttons, which carry `data-row`. Enter opens them by itself. */
export function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  const step = Object.hasOwn(STEPS, event.key) ? STEPS[event.key]! : 0;
  const target = event.target as HTMLElement;
  if (step === 0 || !target.matches('[data-row]')) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  event.preventDefault();
  rows[rows.indexOf(target) + step]?.focus();
}
