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

interface FilterBarProps {
  address: Address;
  targets: Target[] | undefined;
  pools: string[] | undefined;
}

/** Shows the filters that apply to all pages of the service. */
export function FilterBar({ address, targets = [], pools = [] }: FilterBarProps) {
  const { pod, container, jvm, version, pool } = narrowedOf(address.search);
  const containers = nameOptions(targets, 'container', container);
  const versions = nameOptions(targets, 'version', version);
  const jvms = jvmOptions(targets, pod, jvm);
  const poolsFound = poolOptions(pools, pool);
  return (
    <div role="group" aria-label="Filters" className={styles['chosen']}>
      <Select
        label="Pod"
        all="all pods"
        value={pod}
        options={nameOptions(targets, 'pod', pod)}
        onChange={(next) => address.narrow({ pod: next, jvm: null })}
        testId="filter-pod"
      />
      {isChoice(containers, container) && (
        <Select
          label="Container"
          all="all containers"
          value={container}
          options={containers}
          onChange={(next) => address.narrow({ container: next, jvm: null })}
          testId="filter-container"
        />
      )}
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
      {isChoice(versions, version) && (
        <Select
          label="Version"
          all="all versions"
          value={version}
          options={versions}
          onChange={(next) => address.narrow({ version: next })}
          testId="filter-version"
        />
      )}
      {isChoice(poolsFound, pool) && (
        <Select
          label="Pool"
          all="all pools"
          value={pool}
          options={poolsFound}
          onChange={(next) => address.narrow({ pool: next })}
          testId="filter-pool"
        />
      )}
    </div>
  );
}
