// SPDX-License-Identifier: Apache-2.0
import { ErrorNotice } from '../../parts/ErrorNotice.tsx';
import { FlamePanel } from '../../parts/FlamePanel.tsx';
import { useService } from '../../parts/frame/ServiceFrame.tsx';
import { GROUPS } from '../../parts/groups.ts';
import { TargetList } from '../../parts/TargetList.tsx';
import { TopPanel } from '../../parts/TopPanel.tsx';

export function OverviewPage() {
  const { service, address, status } = useService();
  return (
    <>
      {status.data !== undefined && <TargetList targets={status.data.targets} address={address} />}
      {status.data === undefined && status.error !== null && <ErrorNotice error={status.error} />}
      {GROUPS.map((group) => (
        <FlamePanel key={group.key} group={group} service={service} address={address} targets={status.data?.targets} />
      ))}
      <TopPanel service={service} address={address} />
    </>
  );
}
