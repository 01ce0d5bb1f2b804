// SPDX-License-Identifier: Apache-2.0
import type { ReactNode } from 'react';
import table from './table.module.css';

/** Surrounds a table that can be wider than the page, and scrolls it, also by keyboard. */
export function TableFrame({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={table['frame']} tabIndex={0} role="group" aria-label={label}>
      {children}
    </div>
  );
}
