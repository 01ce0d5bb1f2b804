// SPDX-License-Identifier: Apache-2.0
import { visibleText } from '@hotstack/flamegraph';
import type { Target } from '../api/types.ts';
import { formatAgo, formatTime } from '../url/range.ts';
import { reasonOf, stateSummary, toneOf } from './status.ts';
import styles from './TargetList.module.css';
import table from './table.module.css';

/** Every JVM of the service with its verdict. Open by itself when one of them needs a look. */
export function TargetList({ targets }: { targets: Target[] }) {
  const needsLook = targets.some(({ state }) => toneOf(state) === 'bad' || toneOf(state) === 'warn');
  const nobody = !targets.some(({ state }) => state === 'profiling');
  return (
    <details className={styles['list']} open={needsLook || nobody} data-testid="target-list">
      <summary>
        {targets.length === 1 ? '1 JVM' : `${targets.length} JVMs`}
        {targets.length > 0 && `: ${stateSummary(targets)}`}
      </summary>
      {targets.length > 0 && (
        <div className={table['frame']}>
          <table className={table['table']} data-testid="target-table">
            <thead>
              <tr>
                <th>State</th>
                <th>Pod</th>
                <th>Node</th>
                <th className={table['number']}>Pid</th>
                <th>JVM</th>
                <th>Last window</th>
                <th>Reason and fix</th>
              </tr>
            </thead>
            <tbody>
              {targets.map((target) => (
                <TargetRow key={`${target.node} ${target.pid} ${target.started}`} target={target} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

function TargetRow({ target }: { target: Target }) {
  const place = [target.pod, target.container].filter((part) => part !== '').join(' / ');
  const reason = reasonOf(target);
  return (
    <tr data-state={target.state}>
      <td>
        <span className={styles['state']} data-tone={toneOf(target.state)}>
          {visibleText(target.state)}
        </span>
      </td>
      <td>{visibleText(place)}</td>
      <td>{visibleText(target.node)}</td>
      <td className={table['number']}>{target.pid}</td>
      <td title={`Started ${formatTime(target.started)}`}>{visibleText(target.jvm_version)}</td>
      <td>
        {target.last_window !== null && <span title={formatTime(target.last_window)}>{formatAgo(target.last_window, Date.now())}</span>}
      </td>
      <td className={table['wrap']}>
        {reason !== '' && <code>{visibleText(reason)}</code>} {visibleText(target.message)} <b>{visibleText(target.fix)}</b>{' '}
        <span className={table['faint']}>{visibleText(target.detail ?? '')}</span>
      </td>
    </tr>
  );
}
