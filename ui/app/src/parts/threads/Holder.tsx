// SPDX-License-Identifier: Apache-2.0
import { Name } from '../Name.tsx';
import { holderNote, virtualName } from './words.ts';
import table from '../table.module.css';

interface HolderProps {
  holder: { kind: string; java_tid: number | null; name: string };
  max?: number;
}

/** Shows a holder's name, with its kind if it is no ordinary thread. */
export function Holder({ holder: { kind, java_tid, name }, max }: HolderProps) {
  if (java_tid === null) return <span className={table['faint']}>not known</span>;
  const note = holderNote(kind);
  return (
    <>
      <Name text={name === '' ? virtualName({ java_tid, name }) : name} max={max} />
      {note !== '' && (
        <span className={table['faint']} data-holder={kind}>
          {' '}
          ({note})
        </span>
      )}
    </>
  );
}
