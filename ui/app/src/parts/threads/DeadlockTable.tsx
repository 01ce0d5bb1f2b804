// SPDX-License-Identifier: Apache-2.0
import { Link } from 'react-router';
import type { DeadlockRow, DeadlocksAnswer } from '../../api/threads.ts';
import { deadlockAddress, tabAddress } from '../../url/address.ts';
import { formatAgo, formatTime } from '../../url/range.ts';
import type { Address } from '../../url/useAddress.ts';
import { Name } from '../Name.tsx';
import { moveBetweenRows } from '../rowKeys.ts';
import { TableFrame } from '../TableFrame.tsx';
import { cycleOf, standing } from './deadlocks.ts';
import { NothingSeen } from './SourcesNotice.tsx';
import { plural } from '../words.ts';
import { endWord } from './words.ts';
import styles from './threads.module.css';
import table from '../table.module.css';

const NAMES_SHOWN = 3;

/** Shows a row for each deadlock. `service` adds a column with its service. */
export function DeadlockTable({ answer, address, service }: { answer: DeadlocksAnswer; address: Address; service: boolean }) {
  const { deadlocks, sources } = answer;
  if (deadlocks.length === 0)
    return <NothingSeen sources={sources} title="No deadlock" nothing="no threads were seen in a cycle of locks." />;
  return (
    <TableFrame label="Deadlocks">
      <table className={table['table']} data-testid="deadlock-table">
        <thead>
          <tr>
            <th>Threads</th>
            <th>Standing</th>
            <th>First seen</th>
            <th>Last seen</th>
            {service && <th>Service</th>}
            <th>Pod</th>
            <th>Node</th>
            <th className={table['number']}>Pid</th>
          </tr>
        </thead>
        <tbody onKeyDown={moveBetweenRows}>
          {deadlocks.map((deadlock) => (
            <Row key={deadlock.id} deadlock={deadlock} address={address} service={service} />
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

function Row({ deadlock, address, service }: { deadlock: DeadlockRow; address: Address; service: boolean }) {
  const cycle = cycleOf(deadlock.threads);
  const time = (value: string) => <td title={formatTime(value)}>{formatAgo(value, Date.now())}</td>;
  return (
    <tr>
      <td className={table['names']}>
        <Link to={deadlockAddress(deadlock.id, address.search)} data-row data-testid="deadlock-link">
          {deadlock.inferred && 'probable, '}
          {plural(cycle.length, 'thread')}:{' '}
          {cycle.slice(0, NAMES_SHOWN).map(({ name }, index) => (
            <span key={index}>
              {index > 0 && ', '}
              <Name text={name} max={28} />
            </span>
          ))}
          {cycle.length > NAMES_SHOWN && ` and ${cycle.length - NAMES_SHOWN} more`}
        </Link>
      </td>
      <td>
        <Standing deadlock={deadlock} />
      </td>
      {time(deadlock.first_seen)}
      {time(deadlock.last_seen)}
      {service && (
        <td className={table['names']}>
          <Link to={tabAddress(deadlock, address.search, 'deadlocks')}>
            <Name text={deadlock.workload} max={40} />
          </Link>
        </td>
      )}
      <td className={table['names']}>
        <Name text={deadlock.pod || '–'} max={36} />
      </td>
      <td className={table['names']}>
        <Name text={deadlock.node || '–'} max={28} />
      </td>
      <td className={table['number']}>{deadlock.pid}</td>
    </tr>
  );
}

/** Shows whether the deadlock lasts, or why it is known to have ended. */
export function Standing({ deadlock: { ended, end_reason } }: { deadlock: Pick<DeadlockRow, 'ended' | 'end_reason'> }) {
  if (ended === null) {
    return (
      <span className={styles['why']} data-kind="deadlocked">
        lasts
      </span>
    );
  }
  const short = end_reason === 'collector_silent' ? 'not known: collector silent' : endWord(end_reason);
  return <span title={standing({ ended, end_reason })}>{short}</span>;
}
