// SPDX-License-Identifier: Apache-2.0
import { exactQuery, formatDecimal, formatPercent, shorten, typeName } from '@hotstack/flamegraph';
import { useTop } from '../../api/queries.ts';
import type { ServiceId, TopAnswer } from '../../api/types.ts';
import { narrowedOf } from '../../url/address.ts';
import type { Address } from '../../url/useAddress.ts';
import { Answer } from '../Answer.tsx';
import { Choice } from '../Choice.tsx';
import { useService } from '../frame/ServiceFrame.tsx';
import { GROUPS, typesOf } from './groups.ts';
import { Notice } from '../Notice.tsx';
import { rowName } from './topNames.ts';
import panel from '../Panel.module.css';
import table from '../table.module.css';

const LIMIT = 50;

interface TopPanelProps {
  service: ServiceId;
  address: Address;
  /** Profile types to choose from; the first is the default. */
  types?: string[];
}

export function TopPanel({ service, address, types }: TopPanelProps) {
  const { present } = useService();
  const asked = address.get('top', '');
  const all = GROUPS.flatMap((group) => typesOf(group, present, asked).map(([type]): [string, string] => [type, typeName(type)]));
  const choice = types === undefined ? all : all.filter(([type]) => types.includes(type));
  const first = choice[0]![0];
  const type = choice.some(([known]) => known === asked) ? asked : first;
  const query = useTop(service, narrowedOf(address.search), type, LIMIT, address.refresh);
  return (
    <section className={panel['panel']} aria-labelledby="top-methods">
      <header className={panel['head']}>
        <h2 id="top-methods">Top methods</h2>
        {choice.length > 1 && (
          <Choice
            label="Profile type of the table"
            testId="top-type"
            value={type}
            options={choice}
            onChange={(next) => address.set('top', next, first, true)}
          />
        )}
      </header>
      <Answer query={query} waitsFor="the backend to add up the methods">
        {(answer) => <Rows answer={answer} onPick={(name) => address.set('q', exactQuery(name), '', true)} />}
      </Answer>
    </section>
  );
}

function Rows({ answer, onPick }: { answer: TopAnswer; onPick: (name: string) => void }) {
  const { rows, unit, total } = answer;
  if (rows.length === 0) return <Notice title="No samples of this type in this time range" />;
  const number = (decimal: string) => <td className={table['number']}>{formatDecimal(decimal, unit)}</td>;
  const share = (decimal: string) => <td className={table['number']}>{formatPercent(Number(decimal), Number(total))}</td>;
  return (
    <div className={table['frame']}>
      <table className={`${table['table']} ${table['dense']}`} data-testid="top-table" data-total={total}>
        <thead>
          <tr>
            <th className={table['number']}>Self</th>
            <th className={table['number']}>%</th>
            <th className={table['number']}>Total</th>
            <th className={table['number']}>%</th>
            <th>Frame</th>
            <th>Kind</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const name = rowName(row);
            return (
              <tr key={`${row.kind} ${name}`}>
                {number(row.self)}
                {share(row.self)}
                {number(row.total)}
                {share(row.total)}
                <td className={table['wide']}>
                  <button type="button" className={table['name']} title="Find in the graphs" onClick={() => onPick(name)}>
                    <bdi dir="ltr">{shorten(name, 300)}</bdi>
                  </button>
                </td>
                <td className={table['faint']}>{row.kind}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
