// SPDX-License-Identifier: Apache-2.0
import { useId, type ReactNode } from 'react';
import styles from './Panel.module.css';

/** Shows a part of a page under its heading. `note` is beside the heading. */
export function Panel({ title, note, testId, children }: { title: string; note?: ReactNode; testId?: string; children: ReactNode }) {
  const id = useId();
  return (
    <section className={styles['panel']} aria-labelledby={id} data-testid={testId}>
      <header className={styles['head']}>
        <h2 id={id}>{title}</h2>
        {note !== undefined && <span className={styles['note']}>{note}</span>}
      </header>
      {children}
    </section>
  );
}
