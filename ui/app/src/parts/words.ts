// SPDX-License-Identifier: Apache-2.0
// Numbers in words that all pages use.
import { groupDigits } from '@hotstack/flamegraph';

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${groupDigits(String(count))} ${count === 1 ? one : many}`;
}

/** Returns `1.2 cores`, `0.05 cores`. A thread above zero is never shown as zero. */
export function coresText(cores: number): string {
  if (!(cores > 0)) return '0 cores';
  if (cores < 0.01) return '< 0.01 cores';
  const rounded = Number(cores.toFixed(cores < 10 ? 2 : 1));
  return rounded === 1 ? '1 core' : `${rounded} cores`;
}
