// SPDX-License-Identifier: Apache-2.0
import { Link } from 'react-router';
import { formatDecimal, visibleText } from '@hotstack/flamegraph';
import { useServices } from '../api/queries.ts';
import type { ServiceRow } from '../api/types.ts';
import { Answer } from '../parts/Answer.tsx';
import { Notice } from '../parts/Notice.tsx';
import { PageHead } from '../parts/PageHead.tsx';
import { matchingServices, rateText, sortedServices, type SortKey } from '../parts/services.ts';
import { serviceAddress } from '../url/address.ts';
import { formatAgo, formatTime, rangeLength } from '../url/range.ts';
import { useAddress, type Address } from '../url/useAddress.ts';
import controls from '../parts/controls.module.css';
import table from '../parts/table.module.css';

export function ServicesPage() {
  const address = useAddress();
  const query = useServices(address.refresh);
  return (
    <>
      <PageHead title="Services" address={address}>
        <input
          type="search"
          className={controls['field']}
          placeholder="Filter"
          aria-label="Filter services"
          data-testid="services-filter"
          value={address.get('filter', '')}
          onChange={(event) => address.set('filter', event.target.value, '', true)}
        />
      </PageHead>
      <Answer query={query} waitsFor="the backend to sum up all services">
        {({ services }) => <Services services={services} address={address} />}
      </Answer>
    </>
  );
}

function Services({ services, address }: { services: ServiceRow[]; address: Address }) {
  if (services.length === 0) {
    return (
      <Notice title="No service was seen in this time range" testId="empty">
        Choose a longer range, or see whether a collector runs and reaches this backend. A new service shows up within a minute of its first
        window.
      </Notice>
    );
  }
  const sort = address.get('sort', 'cpu') as SortKey;
  const shown = sortedServices(matchingServices(services, address.get('filter', '')), sort);
  const seconds = rangeLength(address.refresh.range) / 1000;
  const sortable = (key: SortKey, name: string, number = true) => (
    <th className={number ? table['number'] : undefined} aria-sort={sort === key ? (number ? 'descending' : 'ascending') : 'none'}>
      <button type="button" className={table['sort']} onClick={() => address.set('sort', key, 'cpu', true)}>
        {name}
        {sort === key ? (number ? ' \u2193' : ' \u2191') : ''}
      </button>
    </th>
  );
  return (
    <div className={table['frame']}>
      <table className={table['table']} data-testid="services-table">
        <thead>
          <tr>
            {sortable('workload', 'Service', false)}
            <th>Namespace</th>
            <th>Cluster</th>
            {sortable('targets', 'JVMs')}
            {sortable('cpu', 'CPU')}
            {sortable('alloc_bytes', 'Allocation')}
            {sortable('lock_delay', 'Lock waiting')}
            <th className={table['number']}>Last seen</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((service) => (
            <tr key={`${service.cluster}/${service.namespace}/${service.workload}`}>
              <td>
                <Link to={serviceAddress(service, address.search)} data-testid="service-link">
                  {visibleText(service.workload)}
                </Link>
              </td>
              <td>{visibleText(service.namespace)}</td>
              <td className={table['faint']}>{visibleText(service.cluster)}</td>
              <td className={table['number']}>{service.targets}</td>
              {['cpu', 'alloc_bytes', 'lock_delay'].map((type) => (
                <Amount key={type} service={service} type={type} seconds={seconds} />
              ))}
              <td className={table['number']} title={formatTime(service.last_seen)}>
                {formatAgo(service.last_seen, Date.now())}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length === 0 && <Notice title="No service matches the filter" />}
    </div>
  );
}

function Amount({ service, type, seconds }: { service: ServiceRow; type: string; seconds: number }) {
  const amount = service.types[type];
  if (amount === undefined) return <td className={`${table['number']} ${table['faint']}`}>–</td>;
  return (
    <td className={table['number']}>
      {formatDecimal(amount.value_total, amount.unit)}{' '}
      <span className={table['faint']} title="Average over the time range">
        {rateText(amount, seconds)}
      </span>
    </td>
  );
}
