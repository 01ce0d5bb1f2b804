// SPDX-License-Identifier: Apache-2.0
import { formatValue, groupDigits } from '@hotstack/flamegraph';
import type { RetentionAnswer } from '../../api/ingestion.ts';
import { formatAgo, formatMoment, formatTime } from '../../url/range.ts';
import { Name } from '../Name.tsx';
import { TableFrame } from '../TableFrame.tsx';
import { plural } from '../words.ts';
import { formatLag, sumsInWords } from './retention.ts';
import styles from '../targets/TargetList.module.css';
import table from '../table.module.css';

/** Shows the content of each table of the store, and whether its expired rows are deleted. */
export function RetentionTable({ answer }: { answer: RetentionAnswer }) {
  const now = Date.now();
  return (
    <>
      <p data-testid="kept">
        Kept for {plural(answer.days, 'day')}: rows from before <b title={formatTime(answer.oldest)}>{formatMoment(answer.oldest, now)}</b> are shown nowhere.
      </p>
      <TableFrame label="Retention">
        <table className={`${table['table']} ${table['tight']}`} data-testid="retention-table">
          <thead>
            <tr>
              <th>Table</th>
              <th>Oldest row</th>
              <th>Expired rows</th>
              <th className={table['number']}>Rows</th>
              <th className={table['number']}>On disk</th>
              <th className={table['number']}>Parts</th>
            </tr>
          </thead>
          <tbody>
            {answer.tables.map((row) => (
              <tr key={row.table}>
                <td>
                  <Name text={row.table} max={40} />
                </td>
                <td>{row.oldest === null ? '–' : <span title={formatTime(row.oldest)}>{formatAgo(row.oldest, now)}</span>}</td>
                <td>
                  <Lag seconds={row.ttl_lag_s} />
                </td>
                <td className={table['number']}>{groupDigits(String(row.rows))}</td>
                <td className={table['number']}>{formatValue(row.bytes, 'bytes')}</td>
                <td className={table['number']}>{groupDigits(String(row.parts))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </>
  );
}

function Lag({ seconds }: { seconds: number }) {
  const { words, late } = formatLag(seconds);
  return seconds === 0 ? (
    words
  ) : (
    <span className={styles['state']} data-tone={late ? 'bad' : 'warn'} data-testid="lag">
      {words}
    </span>
  );
}

/** Shows the progress of the hourly sums, which long ranges read. */
export function Sums({ answer }: { answer: RetentionAnswer }) {
  return (
    <div data-testid="sums">
      {sumsInWords(answer, Date.now()).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </div>
  );
}
