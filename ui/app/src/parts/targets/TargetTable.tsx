// SPDX-License-Identifier: Apache-2.0
import { Link } from 'react-router';
import { visibleText } from '@hotstack/flamegraph';
import type { Target } from '../../api/status.ts';
import { tabAddress } from '../../url/address.ts';
import { formatAgo, formatTime } from '../../url/range.ts';
import type { Address } from '../../url/useAddress.ts';
import { CopyButton } from '../CopyButton.tsx';
import { Name } from '../Name.tsx';
import { moveBetweenRows } from '../rowKeys.ts';
import { TableFrame } from '../TableFrame.tsx';
import { TargetHistory } from './TargetHistory.tsx';
import { OPEN_KEY } from '../threads/Unfolding.tsx';
import { reasonOf, toneOf } from '../status.ts';
import { coverageText, endText, overheadText } from './targets.ts';
import styles from './TargetList.module.css';
import table from '../table.module.css';
import threads from '../threads/threads.module.css';

interface TargetTableProps {
  targets: Target[];
  address: Address;
  /** With the column that says whose the JVM is. */
  service: boolean;
}

const Unknown = () => <span className={table['faint']}>–</span>;

export function TargetTable({ targets, address, service }: TargetTableProps) {
  return (
    <TableFrame label="JVMs">
      <table className={`${table['table']} ${table['tight']}`} data-testid="target-table">
        <thead>
          <tr>
            <th>State</th>
            {service && <th>Service</th>}
            <th>Pod</th>
            <th>Node</th>
            <th className={table['number']}>Pid</th>
            <th>JVM</th>
            <th>Mode</th>
            <th>Session</th>
            <th>Last window</th>
            <th className={table['number']}>Coverage</th>
            <th className={table['number']}>Overhead</th>
          </tr>
        </thead>
        <tbody onKeyDown={moveBetweenRows}>
          {targets.map((target) => (
            <Row
              key={`${target.cluster} ${target.node} ${target.pid} ${target.started}`}
              target={target}
              address={address}
              service={service}
            />
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

function Row({ target, address, service }: { target: Target; address: Address; service: boolean }) {
  const place = [target.pod, target.container].filter((part) => part !== '').join(' / ');
  const coverage = coverageText(target.coverage);
  const overhead = overheadText(target);
  const open = target.jvm !== '' && address.get(OPEN_KEY, '') === target.jvm;
  const explained = reasonOf(target) !== '' || target.message !== '' || target.detail !== '';
  return (
    <>
      <tr data-state={target.state} className={explained ? styles['explained'] : undefined}>
        <td>
          <StateButton target={target} open={open} address={address} row={!service} />
        </td>
        {service && (
          <td className={table['names']}>
            <Link to={tabAddress(target, address.search, 'targets')} data-row>
              <Name text={target.workload} max={40} />
            </Link>{' '}
            <span className={table['faint']}>
              <Name text={target.namespace === '' ? 'no namespace' : target.namespace} max={30} />
              {target.service !== '' && target.service !== target.workload && (
                <>
                  {' · '}
                  <Name text={target.service} max={30} />
                </>
              )}
            </span>
          </td>
        )}
        <td className={table['names']}>{place === '' ? <Unknown /> : <Name text={place} max={44} />}</td>
        <td className={table['names']}>
          <Name text={target.node} max={30} />
        </td>
        <td className={table['number']}>{target.pid}</td>
        <td title={`Started ${formatTime(target.started)}`}>
          <Name text={target.jvm_version} max={20} />
        </td>
        <td>
          <Mode target={target} />
        </td>
        <td>{target.session === '' ? <Unknown /> : <Name text={target.session} max={20} />}</td>
        <td>
          {target.last_window === null ? (
            <Unknown />
          ) : (
            <span title={formatTime(target.last_window)}>{formatAgo(target.last_window, Date.now())}</span>
          )}
        </td>
        <td className={table['number']}>{coverage ?? <Unknown />}</td>
        <td className={table['number']} title={overhead?.title}>
          {overhead?.text ?? <Unknown />}
        </td>
      </tr>
      {explained && (
        <tr>
          <td colSpan={service ? 11 : 10} className={table['wrap']}>
            <Verdict target={target} />
          </td>
        </tr>
      )}
      {open && (
        <tr id={historyId(target)}>
          <td colSpan={service ? 11 : 10} className={table['wrap']}>
            <TargetHistory target={target} address={address} />
          </td>
        </tr>
      )}
    </>
  );
}

const historyId = ({ jvm }: Target) => `history-${jvm}`;

/** Shows a state. A JVM with a reported id has a history to open. With `row`, the arrow keys reach the button. */
function StateButton({ target, open, address, row }: { target: Target; open: boolean; address: Address; row: boolean }) {
  const { jvm, state, observed, pid } = target;
  const label = (
    <span
      className={styles['state']}
      data-tone={toneOf(state)}
      title={observed === null ? undefined : `Reported ${formatTime(observed)}`}
    >
      <Name text={state} max={20} />
    </span>
  );
  if (jvm === '') return label;
  return (
    <button
      type="button"
      data-row={row || undefined}
      className={`${table['name']} ${threads['toggle']}`}
      aria-expanded={open}
      aria-controls={historyId(target)}
      aria-label={`${visibleText(state)}: history of pid ${pid}`}
      onClick={() => address.set(OPEN_KEY, open ? '' : jvm, '', true)}
    >
      {label}
    </button>
  );
}

function Mode({ target }: { target: Target }) {
  const { mode, mode_until } = target;
  const end = endText(target, Date.now());
  if (mode === '') return <Unknown />;
  if (mode_until === null) return <Name text={mode} max={20} />;
  return (
    <span title={formatTime(mode_until)}>
      <Name text={mode} max={20} />, {end}
    </span>
  );
}

function Verdict({ target }: { target: Target }) {
  const { message, fix, detail, pid } = target;
  const reason = reasonOf(target);
  return (
    <div className={styles['verdict']} data-testid="verdict">
      {reason !== '' && (
        <code>
          <Name text={reason} />
        </code>
      )}{' '}
      {visibleText(message)} <b>{visibleText(fix)}</b> <span className={table['faint']}>{visibleText(detail)}</span>{' '}
      {fix !== '' && fix !== '-' && <CopyButton text={visibleText(fix)} label="Copy fix" accessibleName={`Copy fix for pid ${pid}`} />}
    </div>
  );
}
