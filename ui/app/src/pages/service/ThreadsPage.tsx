// SPDX-License-Identifier: Apache-2.0
import { useLanes, useThreads } from '../../api/queries.ts';
import { Answer } from '../../parts/Answer.tsx';
import { useService } from '../../parts/frame/ServiceFrame.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { BusyThreads } from '../../parts/threads/BusyThreads.tsx';
import { Lanes } from '../../parts/threads/Lanes.tsx';
import { bucketsFor } from '../../parts/threads/lanes.ts';
import { SlowThreads } from '../../parts/threads/SlowThreads.tsx';
import { SourcesNotice } from '../../parts/threads/SourcesNotice.tsx';
import { narrowedOf } from '../../url/address.ts';
import { rangeLength } from '../../url/range.ts';

export function ThreadsPage() {
  const { service, address } = useService();
  const narrowed = narrowedOf(address.search);
  const lanes = useLanes(service, narrowed, bucketsFor(rangeLength(address.refresh.range)), address.refresh);
  const threads = useThreads(service, narrowed, address.refresh);
  return (
    <>
      <Panel title="Pools over time" note="A pool unfolds to its threads" testId="panel-lanes">
        <Answer query={lanes} waitsFor="the backend to read thread snapshots">
          {(answer) => (
            <>
              <SourcesNotice answer={answer} empty={answer.lanes.length === 0} />
              <Lanes answer={answer} service={service} address={address} />
            </>
          )}
        </Answer>
      </Panel>
      <Panel title="Busy threads" testId="panel-busy">
        <Answer query={threads} waitsFor="the backend to read thread snapshots">
          {(answer) => <BusyThreads answer={answer} service={service} address={address} brief />}
        </Answer>
      </Panel>
      <Panel title="Slow threads" note="Threads that wait, each with the chain to the one that runs" testId="panel-slow">
        <Answer query={threads} waitsFor="the backend to read thread snapshots">
          {(answer) => <SlowThreads answer={answer} service={service} address={address} brief />}
        </Answer>
      </Panel>
    </>
  );
}
