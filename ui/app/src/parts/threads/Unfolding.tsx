// SPDX-License-Identifier: Apache-2.0
import type { ReactNode } from 'react';
import table from '../table.module.css';
import styles from './threads.module.css';

interface UnfoldingProps {
  id: string;
  open: boolean;
  onToggle: () => void;
  /** The first cell: its button opens the row. */
  head: ReactNode;
  /** The other cells. */
  children: ReactNode;
  columns: number;
  details: () => ReactNode;
}

/** Shows a row of a table that opens to a row of details below it. */
export function Unfolding({ id, open, onToggle, head, children, columns, details }: UnfoldingProps) {
  return (
    <>
      <tr data-open={open || undefined}>
        <td className={table['names']}>
          <button
            type="button"
            data-row
            className={`${table['name']} ${styles['toggle']}`}
            aria-expanded={open}
            aria-controls={id}
            onClick={onToggle}
          >
            {head}
          </button>
        </td>
        {children}
      </tr>
      {open && (
        <tr id={id} className={styles['details']}>
          <td colSpan={columns}>{details()}</td>
        </tr>
      )}
    </>
  );
}

/** The details' only key in the address, so that a link shows the same row unfolded. */
export const OPEN_KEY = 'open';
