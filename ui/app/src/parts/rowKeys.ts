// SPDX-License-Identifier: Apache-2.0
import type { KeyboardEvent } from 'react';

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

/** Moves the focus in a table's body by arrow keys, between the rows' links and buttons with `data-row`. Enter opens them without this function. */
export function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  const step = Object.hasOwn(STEPS, event.key) ? STEPS[event.key]! : 0;
  const target = event.target as HTMLElement;
  if (step === 0 || !target.matches('[data-row]')) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  event.preventDefault();
  rows[rows.indexOf(target) + step]?.focus();
}
