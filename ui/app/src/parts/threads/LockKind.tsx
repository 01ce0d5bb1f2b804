// SPDX-License-Identifier: Apache-2.0
import { lockKind } from './words.ts';
import styles from './threads.module.css';

export function LockKind({ kind }: { kind: string }) {
  const { name, explanation } = lockKind(kind);
  return (
    <span className={styles['faint']} title={explanation}>
      {name}
    </span>
  );
}
