// SPDX-License-Identifier: Apache-2.0
import type { UseQueryResult } from '@tanstack/react-query';
import { useDeadlocks } from '../api/queries.ts';
import type { DeadlocksAnswer } from '../api/threads.ts';
import { Answer } from '../parts/Answer.tsx';
import { useService } from '../parts/frame/ServiceFrame.tsx';
import { PageHead } from '../parts/PageHead.tsx';
import { Panel } from '../parts/Panel.tsx';
import { DeadlockTable } from '../parts/threads/DeadlockTable.tsx';
import { SourcesNotice } from '../parts/threads/SourcesNotice.tsx';
import { narrowedOf } from '../url/address.ts';
import { useAddress, type Address } from '../url/useAddress.ts';

/** Deadlocks of all services. */
export function DeadlocksPage() {
  const address = useAddress();
  const query = useDeadlocks(null, narrowedOf(new URLSearchParams()), address.refresh);
  return (
    <>
      <PageHead title="Deadlocks" address={address} />
      <Deadlocks query={query} address={address} service />
    </>
  );
}

/** Deadlocks of one service. */
export function ServiceDeadlocksPage() {
  const { service, address } = useService();
  const { pod, container, jvm, version } = narrowedOf(address.search);
  const query = useDeadlocks(service, { pod, container, jvm, version }, address.refresh);
  return (
    <Panel title="Deadlocks" note="One row an event">
      <Deadlocks query={query} address={address} service={false} />
    </Panel>
  );
}

function Deadlocks({ query, address, service }: { query: UseQueryResult<DeadlocksAnswer>; address: Address; service: boolean }) {
  return (
    <Answer query={query} waitsFor="the backend to read deadlocks">
      {(answer) => (
        <>
          <SourcesNotice answer={answer} empty={answer.deadlocks.length === 0} />
          <DeadlockTable answer={answer} address={address} service={service} />
        </>
      )}
    </Answer>
  );
}
