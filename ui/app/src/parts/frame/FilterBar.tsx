// SPDX-License-Identifier: Apache-2.0
import { visibleText, shorten } from '@hotstack/flamegraph';
import type { Target } from '../../api/status.ts';
import { narrowedOf } from '../../url/address.ts';
import type { Address } from '../../url/useAddress.ts';
import { Select } from './Select.tsx';
import { jvmOptions, podOptions } from './filters.ts';
import controls from '../controls.module.css';
import styles from './frame.module.css';

/** Shows the filters that apply to all pages of the service. */
export function FilterBar({ address, targets = [] }: { address: Address; targets: Target[] | undefined }) {
  const { pod, jvm, pool } = narrowedOf(address.search);
  const jvms = jvmOptions(targets, pod, jvm);
  return (
    <div role="group" aria-label="Filters" className={styles['chosen']}>
      <Select
        label="Pod"
        all="all pods"
        value={pod}
        options={podOptions(targets, pod)}
        onChange={(next) => address.narrow({ pod: next, jvm: null })}
        testId="filter-pod"
      />
      {jvms.length > 0 && (
        <Select
          label="JVM"
          all="all JVMs"
          value={jvm}
          options={jvms}
          onChange={(next) => address.narrow({ jvm: next })}
          testId="filter-jvm"
        />
      )}
      {pool !== null && (
        <button
          type="button"
          className={controls['button']}
          title="Show all pools"
          data-testid="filter-pool"
          onClick={() => address.narrow({ pool: null })}
        >
          pool: {shorten(visibleText(pool), 40)} <span aria-hidden="true">×</span>
          <span className={controls['unseen']}>, remove this filter</span>
        </button>
      )}
    </div>
  );
}
