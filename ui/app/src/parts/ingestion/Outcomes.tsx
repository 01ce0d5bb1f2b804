// SPDX-License-Identifier: Apache-2.0
import { groupDigits, visibleText } from '@hotstack/flamegraph';
import type { IngestionAnswer, RefusedBatch } from '../../api/ingestion.ts';
import { formatMoment, formatTime } from '../../url/range.ts';
import { Name } from '../Name.tsx';
import { TableFrame } from '../TableFrame.tsx';
import { barsOf, funnelOf, OUTCOMES, type Bar } from './outcomes.ts';
import styles from './ingestion.module.css';
import table from '../table.module.css';

const HEIGHT = 100;

/** Batches over time, a colour an outcome; the legend has the sums, so that colour is never alone. */
export function OutcomeChart({ answer }: { answer: IngestionAnswer }) {
  const { bars, slots, most } = barsOf(answer);
  return (
    <>
      <svg
        className={styles['chart']}
        viewBox={`0 0 ${slots} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Batches over time: ${OUTCOMES.map(([key, words]) => `${answer.outcomes[key]} ${words}`).join(', ')}`}
      >
        {bars.map((bar) => (
          <Stack key={bar.slot} bar={bar} most={most} />
        ))}
      </svg>
      <p className={styles['legend']} data-testid="outcomes">
        {OUTCOMES.map(([key, words]) => (
          <span key={key} data-outcome-sum={key}>
            <span className={styles['key']} data-outcome={key} />
            <b>{groupDigits(String(answer.outcomes[key]))}</b> {words}
          </span>
        ))}
      </p>
    </>
  );
}

function Stack({ bar, most }: { bar: Bar; most: number }) {
  let top = HEIGHT;
  return (
    <g>
      <title>{`${formatTime(bar.time)}: ${OUTCOMES.map(([key, words]) => `${bar.counts[key]} ${words}`).join(', ')}`}</title>
      {OUTCOMES.map(([key]) => {
        const height = (bar.counts[key] / most) * HEIGHT;
        top -= height;
        return height > 0 && <rect key={key} data-outcome={key} x={bar.slot + 0.1} y={top} width={0.8} height={height} />;
      })}
    </g>
  );
}

/** Shows the loss at each step from the JVM into the store. */
export function Funnel({ answer }: { answer: IngestionAnswer }) {
  return (
    <TableFrame label="Ledger">
      <table className={table['table']} data-testid="funnel">
        <tbody>
          {funnelOf(answer).map(([step, amount, what]) => (
            <tr key={step}>
              <th scope="row">{step}</th>
              <td className={table['number']}>{/^\d+$/.test(amount) ? groupDigits(amount) : amount}</td>
              <td className={table['wrap']}>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

/** Batches that were not stored, those that were refused for good first. */
export function RefusedTable({ refused }: { refused: RefusedBatch[] }) {
  const now = Date.now();
  return (
    <TableFrame label="Refused batches">
      <table className={`${table['table']} ${table['tight']}`} data-testid="refused-table">
        <thead>
          <tr>
            <th>Outcome</th>
            <th>Last seen</th>
            <th>Node</th>
            <th>Sender</th>
            <th className={table['number']}>Batches</th>
            <th className={table['number']}>Tries</th>
            <th>Reason</th>
          </tr>
        </thead>
        <tbody>
          {refused.map((row, index) => (
            <tr key={`${row.batch} ${index}`} title={row.batch === '' ? undefined : `Batch ${row.batch}`}>
              <td>
                <Name text={row.status} max={20} />
              </td>
              <td>{row.last_seen === null ? '–' : <span title={formatTime(row.last_seen)}>{formatMoment(row.last_seen, now)}</span>}</td>
              <td>
                <Name text={row.node || '–'} max={30} />
              </td>
              <td>
                <Name text={row.sender || '–'} max={30} />
              </td>
              <td className={table['number']}>{row.batches}</td>
              <td className={table['number']}>{row.attempts}</td>
              <td className={table['wrap']}>
                {row.code !== '' && <code>{visibleText(row.code)}</code>} {visibleText(row.message)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}
