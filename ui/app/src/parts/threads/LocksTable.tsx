// SPDX-License-Identifier: Apache-2.0
import { formatValue } from '@hotstack/flamegraph';
import { Link } from 'react-router';
import type { LockRow, LocksAnswer, SlowThread } from '../../api/threads.ts';
import type { ServiceId } from '../../api/types.ts';
import { tabAddress, threadAddress } from '../../url/address.ts';
import { formatAgo, formatTime } from '../../url/range.ts';
import type { Address } from '../../url/useAddress.ts';
import { Name, Names } from '../Name.tsx';
import { moveBetweenRows } from '../rowKeys.ts';
import { TableFrame } from '../TableFrame.tsx';
import { Chain } from './Chain.tsx';
import { Holder } from './Holder.tsx';
import { LockKind } from './LockKind.tsx';
import { chainOfLock } from './slow.ts';
import { NothingSeen } from './SourcesNotice.tsx';
import { Stack } from './Stack.tsx';
import { OPEN_KEY, Unfolding } from './Unfolding.tsx';
import { plural } from '../words.ts';
import { lockName } from './words.ts';
import styles from './threads.module.css';
import table from '../table.module.css';

interface LocksTableProps {
  answer: LocksAnswer;
  /** Threads that wait now, for the chain behind a lock. */
  slow: SlowThread[];
  service: ServiceId;
  address: Address;
}

const keyOf = ({ jvm, id, class: cls }: LockRow) => `${jvm}.${id}.${cls}`;

/** Shows locks that threads waited for. A row opens to the holders with the stack that held the lock, and the waiters. */
export function LocksTable({ answer, slow, service, address }: LocksTableProps) {
  const { locks, sources } = answer;
  if (locks.length === 0) return <NothingSeen sources={sources} title="No contended locks" nothing="no thread waited for a lock." />;
  const open = address.get(OPEN_KEY, '');
  return (
    <TableFrame label="Locks">
      <table className={`${table['table']} ${table['tight']}`} data-testid="locks-table">
        <thead>
          <tr>
            <th>Lock</th>
            <th>Holder</th>
            <th>Kind</th>
            <th className={table['number']} title="From the profile, for all locks of this class">
              Class waited
            </th>
            <th className={table['number']} title="Threads that were seen waiting">
              Threads
            </th>
            <th className={table['number']} title="Times that a snapshot saw a thread wait">
              Seen waiting
            </th>
            <th>Last seen</th>
            <th>Pod</th>
          </tr>
        </thead>
        <tbody onKeyDown={moveBetweenRows}>
          {locks.map((lock) => {
            const key = keyOf(lock);
            return (
              <Unfolding
                key={key}
                id={`lock-${key}`}
                open={open === key}
                onToggle={() => address.set(OPEN_KEY, open === key ? '' : key, '', true)}
                columns={8}
                head={<Name text={lockName(lock)} max={44} />}
                details={() => <Details lock={lock} slow={slow} service={service} address={address} />}
              >
                <Cells lock={lock} />
              </Unfolding>
            );
          })}
        </tbody>
      </table>
    </TableFrame>
  );
}

function Cells({ lock }: { lock: LockRow }) {
  const { kind, delay_ns, threads, waits, holders, last_seen, pod } = lock;
  const others = holders.length - 1;
  return (
    <>
      <td className={table['names']}>
        {holders.length === 0 ? <span className={table['faint']}>not known</span> : <Holder holder={holders[0]!} max={32} />}
        {others > 0 && <span className={table['faint']}> and {plural(others, 'other')}</span>}
      </td>
      <td>
        <LockKind kind={kind} />
      </td>
      <td className={table['number']}>{delay_ns === null ? '–' : formatValue(delay_ns, 'ns')}</td>
      <td className={table['number']}>{threads}</td>
      <td className={table['number']}>{waits}</td>
      <td title={formatTime(last_seen)}>{formatAgo(last_seen, Date.now())}</td>
      <td className={`${table['faint']} ${table['names']}`}>
        <Name text={pod || '–'} max={24} />
      </td>
    </>
  );
}

function Details({ lock, slow, service, address }: Omit<LocksTableProps, 'answer'> & { lock: LockRow }) {
  const { holders, waiters, waits, first_seen, last_seen } = lock;
  const chain = chainOfLock(lock, slow);
  return (
    <div className={styles['sheet']} data-testid="lock-details">
      <p>
        Seen with a waiting thread {plural(waits, 'time')}, from {formatTime(first_seen)} to {formatTime(last_seen)}.
      </p>
      {chain.length > 0 && <Chain chain={chain} />}
      <div className={styles['sides']}>
        <section>
          <h3>{holders.length === 0 ? 'Holder not known' : 'Held by'}</h3>
          {holders.length === 0 && (
            <p className={styles['faint']}>
              The JVM does not tell the holder of this lock. It may be a read lock, a semaphore or a StampedLock, or was free at the moment of the snapshot.
            </p>
          )}
          {holders.map((holder) => (
            <article key={holder.java_tid} data-testid="holder">
              <h4>
                {holder.kind === 'java' ? (
                  <Link to={threadAddress(service, address.search, { jvm: lock.jvm, java_tid: holder.java_tid })}>
                    <Name text={holder.name} />
                  </Link>
                ) : (
                  <Holder holder={holder} />
                )}{' '}
                <span className={styles['faint']}>in {plural(holder.snapshots, 'snapshot')}</span>
              </h4>
              <Stack stack={holder.stack} marks={holder.held_at >= 0 ? new Map([[holder.held_at, 'took the lock']]) : undefined} />
              {holder.held_at < 0 && holder.stack.length > 0 && (
                <p className={styles['faint']}>The frame that took the lock is not known.</p>
              )}
            </article>
          ))}
        </section>
        <section>
          <h3>Waiting</h3>
          {waiters.map((group, index) => (
            <article key={index} data-testid="waiters">
              <h4>
                {plural(group.threads, 'thread')} of{' '}
                <Link to={tabAddress(service, address.search, 'threads', { pool: group.pool })}>
                  <Name text={group.pool} />
                </Link>
              </h4>
              <p className={styles['faint']}>
                <Names names={group.names} count={group.threads} />
              </p>
              <Stack stack={group.stack} />
            </article>
          ))}
        </section>
      </div>
    </div>
  );
}
