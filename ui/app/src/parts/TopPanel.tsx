// SPDX-License-Identifier: Apache-2.0
import { exactQuery, formatDecimal, formatPercent, shorten, typeName } from '@hotstack/flamegraph';
import { useTop } from '../api/queries.ts';
import type { ServiceId, TopAnswer } from '../api/types.ts';
import type { Address } from '../url/useAddress.ts';
import { Choice } from './Choice.tsx';
import { ErrorNotice } from './ErrorNotice.tsx';
import { GROUPS } from './groups.ts';
import { Notice } from './Notice.tsx';
import { rowName } from './topNames.ts';
import panel from './FlamePanel.module.css';
import table from './table.module.css';

const LIMIT = 50;
const TYPES = GROUPS.flatMap((group) => group.types.map(([type]): [string, string] => [type, typeName(type)]));

export function TopPanel({ service, address }: { service: ServiceId; address: Address }) {
  const asked = address.get('top', 'cpu');
  const type = TYPES.some(([known]) => known === asked) ? asked : 'cpu';
  const { data, error } = useTop(service, type, LIMIT, address.refresh);
  return (
    <section className={panel['panel']} aria-labelledby="top-methods">
      <header className={panel['head']}>
        <h2 id="top-methods">Top methods</h2>
        <Choice label="Profile type of the table" testId="top-type" value={type} options={TYPES} onChange={(next) => address.set('top', next, 'cpu', true)} />
      </header>
      {data === undefined && (error === null ? <Notice title="Loading" busy /> : <ErrorNotice error={error} />)}
      {data !== undefined && <Rows answer={data} onPick={(name) => address.set('q', exactQuery(name), '', true)} />}
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
