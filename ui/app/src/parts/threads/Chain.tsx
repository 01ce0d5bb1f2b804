// SPDX-License-Identifier: Apache-2.0
import { Name } from '../Name.tsx';
import styles from './threads.module.css';

const LONGEST = 8;

/** Shows `worker-1 waits for worker-2 waits for worker-3`; the last one runs. */
export function Chain({ chain }: { chain: string[] }) {
  if (chain.length === 0) return null;
  const shown = chain.length > LONGEST ? [...chain.slice(0, LONGEST - 1), chain[chain.length - 1]!] : chain;
  const left = chain.length - shown.length;
  return (
    <ol className={styles['chain']} aria-label="Chain of waiting threads; the last one is not waiting for a lock">
      {shown.map((name, index) => (
        <li key={index}>
          {left > 0 && index === shown.length - 1 && <span className={styles['faint']}>{left} more, then </span>}
          <Name text={name} max={40} />
        </li>
      ))}
    </ol>
  );
}
