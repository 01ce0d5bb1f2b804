// SPDX-License-Identifier: Apache-2.0
import { NavLink, Outlet, useOutletContext, useParams } from 'react-router';
import type { UseQueryResult } from '@tanstack/react-query';
import { visibleText } from '@hotstack/flamegraph';
import { ApiError } from '../../api/client.ts';
import { usePresent, useStatus } from '../../api/queries.ts';
import type { StatusAnswer } from '../../api/status.ts';
import type { ServiceId } from '../../api/types.ts';
import { namespaceOfSegment, tabAddress, TABS } from '../../url/address.ts';
import { useAddress, type Address } from '../../url/useAddress.ts';
import { ErrorNotice } from '../ErrorNotice.tsx';
import { Name } from '../Name.tsx';
import { RangePicker } from '../RangePicker.tsx';
import { FilterBar } from './FilterBar.tsx';
import styles from './frame.module.css';

const NONE: ReadonlySet<string> = new Set();

export interface ServiceContext {
  service: ServiceId;
  address: Address;
  status: UseQueryResult<StatusAnswer>;
  /** Profile types that have samples; none as long as that is not known. */
  present: ReadonlySet<string>;
}

export function useService(): ServiceContext {
  return useOutletContext<ServiceContext>();
}

/** Shows the head of all pages of one service: its name, the pages, the filters, the time range. */
export function ServiceFrame() {
  const { namespace = '', workload = '' } = useParams();
  const address = useAddress();
  const service: ServiceId = { cluster: address.search.get('cluster'), namespace: namespaceOfSegment(namespace), workload };
  const status = useStatus(service, address.refresh);
  const present = usePresent(service, address.refresh);
  const place = [service.cluster, service.namespace].filter((part) => part !== null && part !== '').join(' / ');
  return (
    <>
      <title>{`${visibleText(workload)} · Hotstack`}</title>
      <header className={styles['head']}>
        <h1 className={styles['title']}>
          {place !== '' && (
            <span className={styles['place']}>
              <Name text={place} max={60} /> /{' '}
            </span>
          )}
          <Name text={workload} max={80} />
        </h1>
        <nav aria-label="Pages of the service" className={styles['tabs']}>
          {TABS.map(([tab, name]) => (
            <NavLink key={tab} to={tabAddress(service, address.search, tab)} end={tab === ''} className={styles['tab']!}>
              {name}
            </NavLink>
          ))}
        </nav>
      </header>
      <div className={styles['filters']}>
        <FilterBar address={address} targets={status.data?.targets} pools={present.data?.pools} />
        <RangePicker address={address} />
      </div>
      {refusesAll(status.error) ? (
        <ErrorNotice error={status.error!} />
      ) : (
        <Outlet context={{ service, address, status, present: present.data?.types ?? NONE } satisfies ServiceContext} />
      )}
    </>
  );
}

/** Returns whether a refusal applies to every call about this service, so that it is shown only once. */
function refusesAll(error: Error | null): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 403);
}
