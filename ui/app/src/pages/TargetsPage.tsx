// SPDX-License-Identifier: Apache-2.0
import type { UseQueryResult } from '@tanstack/react-query';
import { shorten, visibleText } from '@hotstack/flamegraph';
import { useStatus } from '../api/queries.ts';
import type { StatusAnswer } from '../api/status.ts';
import { Answer } from '../parts/Answer.tsx';
import type { Option } from '../parts/frame/filters.ts';
import { Select } from '../parts/frame/Select.tsx';
import { useService } from '../parts/frame/ServiceFrame.tsx';
import { Notice } from '../parts/Notice.tsx';
import { PageHead } from '../parts/PageHead.tsx';
import { Panel } from '../parts/Panel.tsx';
import { stateSummary } from '../parts/status.ts';
import { matchingTargets, sortedTargets, tally } from '../parts/targets/targets.ts';
import { TargetTable } from '../parts/targets/TargetTable.tsx';
import { plural } from '../parts/words.ts';
import { narrowedOf } from '../url/address.ts';
import { useAddress, type Address } from '../url/useAddress.ts';
import page from './page.module.css';

/** Shows every JVM on every node. */
export function TargetsPage() {
  const address = useAddress();
  const query = useStatus(null, address.refresh);
  return (
    <>
      <PageHead title="Targets" address={address}>
        <TargetFilters query={query} address={address} />
      </PageHead>
      <Targets query={query} address={address} service />
    </>
  );
}

/** Shows every JVM of one service. */
export function ServiceTargetsPage() {
  const { address, status } = useService();
  return (
    <Panel title="JVMs" note={<TargetFilters query={status} address={address} />}>
      <Targets query={status} address={address} service={false} />
    </Panel>
  );
}

interface TargetsProps {
  query: UseQueryResult<StatusAnswer>;
  address: Address;
}

function TargetFilters({ query, address }: TargetsProps) {
  const targets = query.data?.targets ?? [];
  const select = (key: 'state' | 'node', label: string, all: string) => {
    const chosen = address.search.get(key);
    const options = tally(targets, key).map(([value, count]): Option => [value, `${shorten(visibleText(value), 40)} (${count})`]);
    if (chosen !== null && !options.some(([value]) => value === chosen)) options.push([chosen, `${shorten(visibleText(chosen), 40)} (0)`]);
    return (
      <Select
        label={label}
        all={all}
        value={chosen}
        options={options}
        onChange={(next) => address.narrow({ [key]: next })}
        testId={`filter-${key}`}
      />
    );
  };
  return (
    <span className={page['filters']}>
      {select('state', 'State', 'all states')}
      {select('node', 'Node', 'all nodes')}
    </span>
  );
}

/** Rows of the first screen; the rest comes when asked for. */
const FIRST = 200;

function Targets({ query, address, service }: TargetsProps & { service: boolean }) {
  const { search } = address;
  return (
    <Answer query={query} waitsFor="the backend to read what the collectors report">
      {({ targets, meta }) => {
        if (targets.length === 0) return <NoTargets />;
        const { pod, container, jvm, version } = narrowedOf(service ? new URLSearchParams() : search);
        const wanted = { state: search.get('state'), node: search.get('node'), pod, container, jvm, version };
        const matching = sortedTargets(matchingTargets(targets, wanted));
        const shown = search.get('rows') === 'all' ? matching : matching.slice(0, FIRST);
        return (
          <>
            {(meta.truncated || meta.nodes_omitted > 0) && (
              <Notice title="This is not the whole list" tone="warn" testId="shortfalls">
                {meta.nodes_omitted > 0 ? `${plural(meta.nodes_omitted, 'JVM was', 'JVMs were')} left off. ` : ''}Open one service, or
                choose a shorter time range, to see all of it.
              </Notice>
            )}
            <p className={page['summary']} data-testid="target-summary">
              {plural(matching.length, 'JVM')}
              {matching.length > 0 && `: ${stateSummary(matching)}`}
            </p>
            {matching.length === 0 ? (
              <Notice title="No JVM matches the filters" testId="no-match">
                {plural(targets.length, 'JVM')} without them.{' '}
                <button
                  type="button"
                  className={page['plain']}
                  onClick={() => address.narrow({ state: null, node: null, pod: null, jvm: null })}
                >
                  Remove the filters
                </button>
              </Notice>
            ) : (
              <TargetTable targets={shown} address={address} service={service} />
            )}
            {shown.length < matching.length && (
              <button type="button" className={page['plain']} onClick={() => address.narrow({ rows: 'all' })}>
                Show all {plural(matching.length, 'JVM')}
              </button>
            )}
          </>
        );
      }}
    </Answer>
  );
}

function NoTargets() {
  return (
    <Notice title="No JVM was seen in this time range" testId="empty">
      Choose a longer range. If there is never one, see whether hotstack-collector runs on the nodes and reaches this backend: it reports
      every JVM, also those that it does not profile.
    </Notice>
  );
}
