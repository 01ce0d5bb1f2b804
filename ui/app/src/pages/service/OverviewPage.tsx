// SPDX-License-Identifier: Apache-2.0
import { Link } from 'react-router';
import { useDeadlocks, useLocks, useThreads } from '../../api/queries.ts';
import { Answer } from '../../parts/Answer.tsx';
import { ErrorNotice } from '../../parts/ErrorNotice.tsx';
import { FlamePanel } from '../../parts/graph/FlamePanel.tsx';
import { useService } from '../../parts/frame/ServiceFrame.tsx';
import { GROUPS } from '../../parts/graph/groups.ts';
import { Panel } from '../../parts/Panel.tsx';
import { TargetList } from '../../parts/targets/TargetList.tsx';
import { BusyThreads } from '../../parts/threads/BusyThreads.tsx';
import { DeadlockTable } from '../../parts/threads/DeadlockTable.tsx';
import { LocksTable } from '../../parts/threads/LocksTable.tsx';
import { TopPanel } from '../../parts/graph/TopPanel.tsx';
import { narrowedOf, tabAddress, type Tab } from '../../url/address.ts';

/** Rows of a table of threads or locks: the page that the heading leads to has all. */
const MOST = 5;
const WAIT = 'the backend to read thread snapshots';

export function OverviewPage() {
  const { service, address, status } = useService();
  const narrowed = narrowedOf(address.search);
  const { pod, container, jvm, version } = narrowed;
  const threads = useThreads(service, narrowed, address.refresh);
  const locks = useLocks(service, narrowed, address.refresh);
  const deadlocks = useDeadlocks(service, { pod, container, jvm, version }, address.refresh);
  const all = (tab: Tab) => <Link to={tabAddress(service, address.search, tab)}>all</Link>;
  return (
    <>
      {status.data !== undefined && <TargetList targets={status.data.targets} address={address} />}
      {status.data === undefined && status.error !== null && <ErrorNotice error={status.error} />}
      {deadlocks.data !== undefined && deadlocks.data.deadlocks.length > 0 && (
        <Panel title="Deadlocks" note={all('deadlocks')} testId="panel-deadlocks">
          <DeadlockTable
            answer={{ ...deadlocks.data, deadlocks: deadlocks.data.deadlocks.slice(0, MOST) }}
            address={address}
            service={false}
          />
        </Panel>
      )}
      {GROUPS.map((group) => (
        <FlamePanel key={group.key} group={group} service={service} address={address} targets={status.data?.targets} />
      ))}
      <Panel title="Busiest threads" note={all('cpu')} testId="panel-busy">
        <Answer query={threads} waitsFor={WAIT}>
          {(answer) => <BusyThreads answer={{ ...answer, busy: answer.busy.slice(0, MOST) }} service={service} address={address} />}
        </Answer>
      </Panel>
      <Panel title="Locks that cost most" note={all('locks')} testId="panel-locks">
        <Answer query={locks} waitsFor={WAIT}>
          {(answer) => (
            <LocksTable
              answer={{ ...answer, locks: answer.locks.slice(0, MOST) }}
              slow={threads.data?.slow ?? []}
              service={service}
              address={address}
            />
          )}
        </Answer>
      </Panel>
      <TopPanel service={service} address={address} />
    </>
  );
}
