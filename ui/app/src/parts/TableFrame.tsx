// SPDX-License-Identifier: Apache-2.0
import type { ReactNode } from 'react';
import table from './table.module.css';

/** Around a table that may be wider than the page: it scrolls by itself, by keyboard too. */
export function TableFrame({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={table['frame']} tabIndex={0} role="group" aria-label={label}>
      {children}
    </div>
  );
}
