// SPDX-License-Identifier: Apache-2.0
import type { ReactNode } from 'react';
import styles from './Notice.module.css';

interface NoticeProps {
  title: string;
  children?: ReactNode;
  /** `bad` is announced at once. */
  tone?: 'plain' | 'warn' | 'bad';
  busy?: boolean;
  testId?: string;
}

/** Shows a state instead of content: the state, its reason, and the next step. */
export function Notice({ title, children, tone = 'plain', busy = false, testId }: NoticeProps) {
  return (
    <div className={`${styles['notice']} ${styles[tone]}`} role={tone === 'bad' ? 'alert' : 'status'} aria-busy={busy} data-testid={testId}>
      <strong className={busy ? styles['busy'] : undefined}>{title}</strong>
      {children !== undefined && <div className={styles['text']}>{children}</div>}
    </div>
  );
}
