// SPDX-License-Identifier: Apache-2.0
import { formatValue, visibleText } from '@hotstack/flamegraph';
import type { Collector } from '../../api/ingestion.ts';
import { formatAgo, formatMoment, formatTime } from '../../url/range.ts';
import { Name } from '../Name.tsx';
import { TableFrame } from '../TableFrame.tsx';
import { plural } from '../words.ts';
import styles from '../targets/TargetList.module.css';
import table from '../table.module.css';

/** Shows every collector: its state, its queue, its losses. */
export function CollectorTable({ collectors }: { collectors: Collector[] }) {
  return (
    <TableFrame label="Collectors">
      <table className={`${table['table']} ${table['tight']}`} data-testid="collector-table">
        <thead>
          <tr>
            <th>State</th>
            <th>Node</th>
            <th>Last heartbeat</th>
            <th>Version</th>
            <th className={table['number']}>JVMs profiled</th>
            <th>Queue</th>
            <th>Last batch taken</th>
            <th>Lost in this time</th>
          </tr>
        </thead>
        <tbody>
          {collectors.map((one) => (
            <Row key={`${one.cluster} ${one.instance}`} one={one} />
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

function Row({ one }: { one: Collector }) {
  const now = Date.now();
  return (
    <tr data-state={one.state}>
      <td>
        <span className={styles['state']} data-tone={one.state === 'alive' ? 'good' : 'bad'}>
          <Name text={one.state} max={20} />
        </span>
      </td>
      <td className={table['names']}>
        <Name text={one.node} max={36} /> <span className={table['faint']}>{visibleText(one.cluster)}</span>
      </td>
      <td>{one.heartbeat === null ? '–' : <span title={formatTime(one.heartbeat)}>{formatAgo(one.heartbeat, now)}</span>}</td>
      <td className={table['names']}>
        <Name text={one.version} max={20} />
        {one.engine !== '' && (
          <span className={table['faint']}>
            {' · '}
            <Name text={one.engine} max={30} />
          </span>
        )}
      </td>
      <td className={table['number']}>
        {one.jvms_profiled} of {one.jvms_seen}
      </td>
      <td className={table['names']}>
        <Queue queue={one.queue} now={now} />
      </td>
      <td>{one.last_success === null ? 'not since its start' : <span title={formatTime(one.last_success)}>{formatAgo(one.last_success, now)}</span>}</td>
      <td className={table['wrap']}>
        {one.drops.length === 0 ? 'nothing' : one.drops.map((drop) => (
          <div key={drop.cause} data-testid="drop">
            <b>{plural(drop.batches, 'batch', 'batches')}</b> <code>{visibleText(drop.cause)}</code>
            {drop.oldest !== null && ` of ${formatMoment(drop.oldest, now)}`}. {visibleText(drop.message)} <b>{visibleText(drop.fix)}</b>
          </div>
        ))}
      </td>
    </tr>
  );
}

function Queue({ queue, now }: { queue: Collector['queue']; now: number }) {
  if (queue.batches === 0) return 'empty';
  const since = queue.oldest === null ? '' : `, oldest ${formatAgo(queue.oldest, now)}`;
  return (
    <>
      {plural(queue.batches, 'batch', 'batches') + since}
      <div className={table['faint']}>
        {formatValue(queue.bytes, 'bytes')} of {formatValue(queue.max_bytes, 'bytes')}
      </div>
    </>
  );
}
