// SPDX-License-Identifier: Apache-2.0
import type { Target } from '../../api/status.ts';
import { narrowedOf } from '../../url/address.ts';
import type { Address } from '../../url/useAddress.ts';
import { Select } from './Select.tsx';
import { jvmOptions, nameOptions, poolOptions, type Option } from './filters.ts';
import styles from './frame.module.css';

/** Returns whether a filter is shown: a service with one value lacks it, unless an address has chosen something. */
function isChoice(options: Option[], chosen: string | null): boolean {
  return options.length > 1 || chosen !== null;
}

/** Filters of which another value leaves the chosen JVM behind. */
const OF_ITS_JVM = ['pod', 'container'];

interface FilterBarProps {
  address: Address;
  targets: Target[] | undefined;
  pools: string[] | undefined;
}

/** Shows the filters that apply to all pages of the service. */
export function FilterBar({ address, targets = [], pools = [] }: FilterBarProps) {
  const narrowed = narrowedOf(address.search);
  const { pod, container, jvm, version, pool } = narrowed;
  const containers = nameOptions(targets, 'container', container);
  const versions = nameOptions(targets, 'version', version);
  const jvms = jvmOptions(targets, pod, jvm);
  const poolsFound = poolOptions(pools, pool);
  const filters = [
    { key: 'pod', label: 'Pod', all: 'all pods', options: nameOptions(targets, 'pod', pod), shown: true },
    { key: 'container', label: 'Container', all: 'all containers', options: containers, shown: isChoice(containers, container) },
    { key: 'jvm', label: 'JVM', all: 'all JVMs', options: jvms, shown: jvms.length > 0 },
    { key: 'version', label: 'Version', all: 'all versions', options: versions, shown: isChoice(versions, version) },
    { key: 'pool', label: 'Pool', all: 'all pools', options: poolsFound, shown: isChoice(poolsFound, pool) },
  ] as const;
  return (
    <div role="group" aria-label="Filters" className={styles['chosen']}>
      {filters
        .filter(({ shown }) => shown)
        .map(({ key, label, all, options }) => (
          <Select
            key={key}
            label={label}
            all={all}
            value={narrowed[key]}
            options={options}
            onChange={(next) => address.narrow({ ...(OF_ITS_JVM.includes(key) && { jvm: null }), [key]: next })}
            testId={`filter-${key}`}
          />
        ))}
    </div>
  );
}
