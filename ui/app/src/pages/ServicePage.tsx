// SPDX-License-Identifier: Apache-2.0
import { Link, useParams } from 'react-router';
import { visibleText } from '@hotstack/flamegraph';
import { ApiError } from '../api/client.ts';
import { useStatus } from '../api/queries.ts';
import type { ServiceId } from '../api/types.ts';
import { ErrorNotice } from '../parts/ErrorNotice.tsx';
import { FlamePanel } from '../parts/FlamePanel.tsx';
import { GROUPS } from '../parts/groups.ts';
import { RangePicker } from '../parts/RangePicker.tsx';
import { TargetList } from '../parts/TargetList.tsx';
import { TopPanel } from '../parts/TopPanel.tsx';
import { namespaceOfSegment, servicesAddress } from '../url/address.ts';
import { useAddress } from '../url/useAddress.ts';
import page from './page.module.css';

export function ServicePage() {
  const { namespace = '', workload = '' } = useParams();
  const address = useAddress();
  const service: ServiceId = { cluster: address.search.get('cluster'), namespace: namespaceOfSegment(namespace), workload };
  const status = useStatus(service, address.refresh);
  const place = [service.cluster, service.namespace].filter((part) => part !== null && part !== '').join(' / ');
  return (
    <>
      <title>{`${visibleText(workload)} · Hotstack`}</title>
      <header className={page['head']}>
        <h1>
          <Link to={servicesAddress(address.search)} className={page['up']}>
            Services
          </Link>
          <span className={page['slash']}>/</span>
          {visibleText(workload)}
        </h1>
        <span className={page['place']}>{visibleText(place)}</span>
        <span className={page['gap']} />
        <RangePicker address={address} />
      </header>
      {status.data !== undefined && <TargetList targets={status.data.targets} />}
      {status.data === undefined && status.error !== null && <ErrorNotice error={status.error} />}
      {!refusesAll(status.error) && (
        <>
          {GROUPS.map((group) => (
            <FlamePanel key={group.key} group={group} service={service} address={address} targets={status.data?.targets} />
          ))}
          <TopPanel service={service} address={address} />
        </>
      )}
    </>
  );
}

/** A refusal that holds for every call about this service: said once. */
function refusesAll(error: Error | null): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 403);
}
