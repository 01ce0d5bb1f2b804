// SPDX-License-Identifier: Apache-2.0
// The pages of one service about CPU and memory.
import { useThreads } from '../../api/queries.ts';
import { Answer } from '../../parts/Answer.tsx';
import { FlamePanel } from '../../parts/graph/FlamePanel.tsx';
import { useService } from '../../parts/frame/ServiceFrame.tsx';
import { GROUPS, type GraphGroup } from '../../parts/graph/groups.ts';
import { Panel } from '../../parts/Panel.tsx';
import { BusyThreads } from '../../parts/threads/BusyThreads.tsx';
import { SourcesNotice } from '../../parts/threads/SourcesNotice.tsx';
import { TopPanel } from '../../parts/graph/TopPanel.tsx';
import { narrowedOf } from '../../url/address.ts';

const group = (key: GraphGroup['key']) => GROUPS.find((one) => one.key === key)!;

export function CpuPage() {
  const { service, address, status } = useService();
  const threads = useThreads(service, narrowedOf(address.search), address.refresh);
  return (
    <>
      <FlamePanel group={group('cpu')} service={service} address={address} targets={status.data?.targets} />
      <Panel title="Busy threads" testId="panel-busy">
        <Answer query={threads} waitsFor="the backend to read thread snapshots">
          {(answer) => (
            <>
              <SourcesNotice answer={answer} empty={answer.busy.length === 0} />
              <BusyThreads answer={answer} service={service} address={address} />
            </>
          )}
        </Answer>
      </Panel>
      <TopPanel service={service} address={address} types={['cpu', 'wall']} />
    </>
  );
}

export function MemoryPage() {
  const { service, address, status } = useService();
  return (
    <>
      <FlamePanel group={group('alloc')} service={service} address={address} targets={status.data?.targets} />
      <TopPanel service={service} address={address} types={['alloc_bytes', 'alloc_objects', 'live_bytes', 'nativemem_bytes']} />
      <p>
        Retained heap is not measured here: take a heap dump with <code>jcmd PID GC.heap_dump FILE</code>.
      </p>
    </>
  );
}
