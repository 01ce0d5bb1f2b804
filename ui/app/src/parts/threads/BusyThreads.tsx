// SPDX-License-Identifier: Apache-2.0
import { Link } from 'react-router';
import type { BusyThread, ThreadsAnswer } from '../../api/threads.ts';
import type { ServiceId } from '../../api/types.ts';
import { threadAddress } from '../../url/address.ts';
import type { Address } from '../../url/useAddress.ts';
import { Name } from '../Name.tsx';
import { moveBetweenRows } from '../rowKeys.ts';
import { TableFrame } from '../TableFrame.tsx';
import { NothingSeen } from './SourcesNotice.tsx';
import { State } from './State.tsx';
import { coresText } from '../words.ts';
import { confidenceWord, cpuFigure, topFrame, virtualName } from './words.ts';
import table from '../table.module.css';

interface BusyThreadsProps {
  answer: ThreadsAnswer;
  service: ServiceId;
  address: Address;
  /** The page tells in another place why there are no snapshots. */
  brief?: boolean;
}

/** Shows threads by their CPU time, with its accuracy. A name links to the thread's stacks over time. */
export function BusyThreads({ answer, service, address, brief }: BusyThreadsProps) {
  const { busy, sources } = answer;
  if (busy.length === 0)
    return <NothingSeen sources={sources} brief={brief} title="No busy threads" nothing="no thread used 2 % of a core or more." />;
  return (
    <TableFrame label="Busy threads">
      <table className={table['table']} data-testid="busy-table">
        <thead>
          <tr>
            <th>Thread</th>
            <th className={table['number']}>CPU</th>
            <th>How known</th>
            <th>State</th>
            <th className={table['number']}>Runnable in</th>
            <th>Last seen in</th>
            <th>Pod</th>
          </tr>
        </thead>
        <tbody onKeyDown={moveBetweenRows}>
          {busy.map((thread) => (
            <Row
              key={`${thread.jvm} ${thread.java_tid} ${thread.name}`}
              thread={thread}
              to={threadAddress(service, address.search, thread)}
            />
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

function Row({ thread, to }: { thread: BusyThread; to: string }) {
  const confidence = confidenceWord(thread.confidence);
  return (
    <tr>
      <td className={table['names']}>
        <Link to={to} data-row data-testid="thread-link">
          <Name text={thread.name} max={48} />
        </Link>
        {thread.carries !== null && (
          <span className={table['faint']}>
            {' '}
            carries virtual thread <Name text={virtualName(thread.carries)} max={32} />
          </span>
        )}
      </td>
      <td className={table['number']} title={cpuFigure(thread)}>
        {coresText(thread.cores)}
      </td>
      <td title={confidence.explanation} data-confidence={thread.confidence}>
        {confidence.name}
      </td>
      <td>
        {/* A carrier's state is not that of the virtual thread. */}
        {thread.carries === null ? <State state={thread.state} /> : <span className={table['faint']}>carrier</span>}
      </td>
      <td className={table['number']}>{thread.snapshots === 0 ? '–' : `${thread.runnable} of ${thread.snapshots}`}</td>
      <td className={table['wide']}>
        <Name text={topFrame(thread.stack) || '–'} max={90} />
      </td>
      <td className={`${table['faint']} ${table['names']}`}>
        <Name text={thread.pod || '–'} max={32} />
      </td>
    </tr>
  );
}
