// SPDX-License-Identifier: Apache-2.0
import type { Target } from '../../api/status.ts';
import type { Address } from '../../url/useAddress.ts';
import { stateSummary, toneOf } from '../status.ts';
import { sortedTargets } from './targets.ts';
import { TargetTable } from './TargetTable.tsx';
import styles from './TargetList.module.css';

/** Shows every JVM of the service with its verdict. It is open from the start when one of them needs attention. */
export function TargetList({ targets, address }: { targets: Target[]; address: Address }) {
  const needsLook = targets.some(({ state }) => toneOf(state) === 'bad' || toneOf(state) === 'warn');
  const nobody = !targets.some(({ state }) => state === 'profiling');
  return (
    <details className={styles['list']} open={needsLook || nobody} data-testid="target-list">
      <summary>
        {targets.length === 1 ? '1 JVM' : `${targets.length} JVMs`}
        {targets.length > 0 && `: ${stateSummary(targets)}`}
      </summary>
      {targets.length > 0 && <TargetTable targets={sortedTargets(targets)} address={address} service={false} />}
    </details>
  );
}
