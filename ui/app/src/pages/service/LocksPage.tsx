// SPDX-License-Identifier: Apache-2.0
import { useLocks, useThreads } from '../../api/queries.ts';
import { Answer } from '../../parts/Answer.tsx';
import { FlamePanel } from '../../parts/graph/FlamePanel.tsx';
import { useService } from '../../parts/frame/ServiceFrame.tsx';
import { GROUPS } from '../../parts/graph/groups.ts';
import { Panel } from '../../parts/Panel.tsx';
import { LocksTable } from '../../parts/threads/LocksTable.tsx';
import { SlowThreads } from '../../parts/threads/SlowThreads.tsx';
import { SourcesNotice } from '../../parts/threads/SourcesNotice.tsx';
import { narrowedOf } from '../../url/address.ts';

const LOCKS = GROUPS.find(({ key }) => key === 'lock')!;

export function LocksPage() {
  const { service, address, status } = useService();
  const narrowed = narrowedOf(address.search);
  const locks = useLocks(service, narrowed, address.refresh);
  const threads = useThreads(service, narrowed, address.refresh);
  return (
    <>
      <Panel title="Contended locks" note="A row unfolds to the holders and the waiters" testId="panel-locks">
        <Answer query={locks} waitsFor="the backend to read thread snapshots">
          {(answer) => (
            <>
              <SourcesNotice answer={answer} empty={answer.locks.length === 0} />
              <LocksTable answer={answer} slow={threads.data?.slow ?? []} service={service} address={address} />
            </>
          )}
        </Answer>
      </Panel>
      <Panel title="Slow threads" note="Threads that wait, each with the chain to the one that runs" testId="panel-slow">
        <Answer query={threads} waitsFor="the backend to read thread snapshots">
          {(answer) => <SlowThreads answer={answer} service={service} address={address} brief />}
        </Answer>
      </Panel>
      <FlamePanel group={LOCKS} service={service} address={address} targets={status.data?.targets} />
    </>
  );
}
