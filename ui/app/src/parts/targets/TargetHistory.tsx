// SPDX-License-Identifier: Apache-2.0
import { visibleText } from '@hotstack/flamegraph';
import { useHistory } from '../../api/queries.ts';
import type { Target, TargetSpell } from '../../api/status.ts';
import { formatMoment, formatTime } from '../../url/range.ts';
import type { Address } from '../../url/useAddress.ts';
import { Answer } from '../Answer.tsx';
import { Name } from '../Name.tsx';
import { reasonOf, toneOf } from '../status.ts';
import { plural } from '../words.ts';
import styles from './TargetList.module.css';
import table from '../table.module.css';

/** Shows the states that the collector reported for a JVM in the time range, the newest first: when it was profiled, and why not. */
export function TargetHistory({ target, address }: { target: Target; address: Address }) {
  const query = useHistory(target, target.jvm, address.refresh);
  return (
    <Answer query={query} waitsFor="the backend to read what the collector reported">
      {({ history, meta }) => (
        <>
          <table className={`${table['table']} ${table['tight']}`} data-testid="target-history" aria-label={`History of pid ${target.pid}`}>
            <thead>
              <tr>
                <th>From</th>
                <th>To</th>
                <th>State</th>
                <th>Mode</th>
                <th>Session</th>
                <th>Reason</th>
              </tr>
            </thead>
            <tbody>
              {history.map((spell) => (
                <Spell key={spell.since} spell={spell} />
              ))}
            </tbody>
          </table>
          {history.length === 0 && <p>Its collector told nothing in this time range.</p>}
          {meta.nodes_omitted > 0 && <p>{plural(meta.nodes_omitted, 'older row')} left off. Choose a shorter time range to see them.</p>}
        </>
      )}
    </Answer>
  );
}

function Spell({ spell }: { spell: TargetSpell }) {
  const now = Date.now();
  const reason = [reasonOf(spell), spell.message, spell.detail].filter((part) => part !== '');
  return (
    <tr>
      <td title={formatTime(spell.since)}>{formatMoment(spell.since, now)}</td>
      <td title={formatTime(spell.observed)}>{formatMoment(spell.observed, now)}</td>
      <td>
        <span className={styles['state']} data-tone={toneOf(spell.state)}>
          <Name text={spell.state} max={20} />
        </span>
      </td>
      <td>
        <Name text={spell.mode || '–'} max={20} />
        {spell.mode_until !== null && `, until ${formatMoment(spell.mode_until, now)}`}
      </td>
      <td>
        <Name text={spell.session || '–'} max={20} />
      </td>
      <td className={table['wrap']}>{reason.length === 0 ? '–' : visibleText(reason.join(' · '))}</td>
    </tr>
  );
}
