// SPDX-License-Identifier: Apache-2.0
// The account of a graph: of all that was sampled, how much is on the screen, and where the rest went.
import { formatPercent } from '@hotstack/flamegraph';
import type { Ledger } from '../../api/types.ts';

export interface Share {
  key: 'shown' | 'omitted' | 'dropped' | 'truncated';
  explanation: string;
  percent: string;
  isZero: boolean;
}

const EXPLANATIONS: Record<Share['key'], string> = {
  shown: 'Stands in this graph under its own name',
  omitted: 'Cut from this answer to keep it small; in the store',
  dropped: 'In the [dropped] stack of a window that had too many stacks',
  truncated: 'In stacks deeper than the frame limit; counted and shown under the part that was kept',
};

function integer(decimal: string | undefined): bigint {
  return decimal !== undefined && /^\d{1,40}$/.test(decimal) ? BigInt(decimal) : 0n;
}

/** Calculates in integers, so that the smallest loss of the largest sum is not rounded away. */
function percentOf(part: bigint, whole: bigint): string {
  const fine = 1_000_000_000n;
  const share = whole === 0n ? 0 : Number((part * fine) / whole);
  return formatPercent(part > 0n ? Math.max(share, 1) : 0, Number(fine));
}

/** Returns shares of the sampled value, from the screen back to the JVM. */
export function ledgerShares(ledger: Partial<Ledger>): Share[] {
  const seen = integer(ledger.seen);
  const lost = { omitted: integer(ledger.omitted), dropped: integer(ledger.dropped) };
  const gone = lost.omitted + lost.dropped;
  const shown = seen > gone ? seen - gone : 0n;
  const share = (key: Share['key'], value: bigint): Share => ({
    key,
    explanation: EXPLANATIONS[key],
    percent: percentOf(value, seen),
    isZero: value === 0n,
  });
  return [
    share('shown', shown),
    share('omitted', lost.omitted),
    share('dropped', lost.dropped),
    share('truncated', integer(ledger.truncated)),
  ];
}
