// SPDX-License-Identifier: Apache-2.0
import { Link } from 'react-router';
import { visibleText } from '@hotstack/flamegraph';
import type { SlowThread, ThreadsAnswer } from '../../api/threads.ts';
import type { ServiceId } from '../../api/types.ts';
import { threadAddress } from '../../url/address.ts';
import { formatAgo, formatTime } from '../../url/range.ts';
import type { Address } from '../../url/useAddress.ts';
import { Name, Names } from '../Name.tsx';
import { moveBetweenRows } from '../rowKeys.ts';
import { TableFrame } from '../TableFrame.tsx';
import { Chain } from './Chain.tsx';
import { Holder } from './Holder.tsx';
import { groupSlow } from './slow.ts';
import { NothingSeen } from './SourcesNotice.tsx';
import { Stack } from './Stack.tsx';
import { stateWord } from './State.tsx';
import { OPEN_KEY, Unfolding } from './Unfolding.tsx';
import { lockKind, lockName, slowWord } from './words.ts';
import styles from './threads.module.css';
import table from '../table.module.css';

interface SlowThreadsProps {
  answer: ThreadsAnswer;
  service: ServiceId;
  address: Address;
  /** The page tells in another place why there are no snapshots. */
  brief?: boolean;
}

const keyOf = ({ jvm, java_tid, kind }: SlowThread) => `${jvm}.${java_tid}.${kind}`;

/** Shows waiting threads and the things they wait for, each with the chain to the thread that runs. Equal threads share a row. */
export function SlowThreads({ answer, service, address, brief }: SlowThreadsProps) {
  const { slow, sources } = answer;
  if (slow.length === 0)
    return <NothingSeen sources={sources} brief={brief} title="No slow threads" nothing="no thread waited for a lock or a class." />;
  const open = address.get(OPEN_KEY, '');
  return (
    <TableFrame label="Slow threads">
      <table className={`${table['table']} ${table['tight']}`} data-testid="slow-table">
        <thead>
          <tr>
            <th>Thread</th>
            <th>Why</th>
            <th>Waits for</th>
            <th>Held by</th>
            <th>Since</th>
            <th>Pod</th>
          </tr>
        </thead>
        <tbody onKeyDown={moveBetweenRows}>
          {groupSlow(slow).map(({ first: thread, others }) => {
            const key = keyOf(thread);
            return (
              <Unfolding
                key={key}
                id={`slow-${key}`}
                open={open === key}
                onToggle={() => address.set(OPEN_KEY, open === key ? '' : key, '', true)}
                columns={6}
                head={
                  <>
                    <Name text={thread.name} max={40} />
                    {others.length > 0 && <span className={table['faint']}> and {others.length} alike</span>}
                  </>
                }
                details={() => <Details thread={thread} others={others} to={threadAddress(service, address.search, thread)} />}
              >
                <Cells thread={thread} />
              </Unfolding>
            );
          })}
        </tbody>
      </table>
    </TableFrame>
  );
}

function Cells({ thread }: { thread: SlowThread }) {
  const { kind, lock, awaited_class, holder, since, pod } = thread;
  const word = slowWord(kind);
  return (
    <>
      <td title={word.explanation}>
        <span className={styles['why']} data-kind={kind}>
          {word.name}
        </span>
      </td>
      <td className={table['names']}>
        {lock !== null && <Name text={lockName(lock)} max={44} />}
        {awaited_class !== null && (
          <>
            probably class <Name text={awaited_class} max={44} />
          </>
        )}
        {lock === null && awaited_class === null && '–'}
      </td>
      <td className={table['names']}>{holder === null ? <span className={table['faint']}>not known</span> : <Holder holder={holder} max={32} />}</td>
      <td title={formatTime(since)}>{formatAgo(since, Date.now())}</td>
      <td className={`${table['faint']} ${table['names']}`}>
        <Name text={pod || '–'} max={32} />
      </td>
    </>
  );
}

function Details({ thread, others, to }: { thread: SlowThread; others: SlowThread[]; to: string }) {
  const { name, kind, lock, holder, chain, stack, last_seen } = thread;
  return (
    <div className={styles['sheet']}>
      <p>
        {slowWord(kind).explanation} Last seen {formatAgo(last_seen, Date.now())}.
        {lock !== null && ` ${visibleText(lockName(lock))}: ${lockKind(lock.kind).explanation}`}
        {holder !== null && holder.state !== '' && ` Its holder is ${stateWord(holder.state)}.`} <Link to={to}>Stacks over time</Link>
      </p>
      {chain.length > 0 && <Chain chain={[name, ...chain]} />}
      <Stack stack={stack} />
      {others.length > 0 && (
        <p className={styles['faint']} data-testid="alike">
          Alike: <Names names={others.map((other) => other.name)} />
        </p>
      )}
    </div>
  );
}
