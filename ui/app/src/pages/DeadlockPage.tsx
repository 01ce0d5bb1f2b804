// SPDX-License-Identifier: Apache-2.0
import { Link, useParams } from 'react-router';
import { visibleText } from '@hotstack/flamegraph';
import { useDeadlock } from '../api/queries.ts';
import type { Deadlock } from '../api/threads.ts';
import { Answer } from '../parts/Answer.tsx';
import { CopyButton } from '../parts/CopyButton.tsx';
import { Name } from '../parts/Name.tsx';
import { DeadlockCycle } from '../parts/threads/DeadlockCycle.tsx';
import { deadlockText, standing } from '../parts/threads/deadlocks.ts';
import { Standing } from '../parts/threads/DeadlockTable.tsx';
import { SourcesNotice } from '../parts/threads/SourcesNotice.tsx';
import { pageAddress, tabAddress } from '../url/address.ts';
import { formatTime } from '../url/range.ts';
import { useAddress, type Address } from '../url/useAddress.ts';
import page from './page.module.css';
import styles from '../parts/threads/threads.module.css';

/** Shows one deadlock: where, since when, and the cycle. */
export function DeadlockPage() {
  const { id = '' } = useParams();
  const address = useAddress();
  const query = useDeadlock(id, address.refresh.live);
  return (
    <>
      <title>Deadlock · Hotstack</title>
      <header className={page['head']}>
        <h1>
          <Link to={pageAddress('/deadlocks', address.search)} className={page['up']}>
            Deadlocks
          </Link>
          <span className={page['slash']}>/</span>
          {query.data === undefined ? 'one' : `${query.data.deadlock.threads.length} threads`}
        </h1>
        <span className={page['gap']} />
        {query.data !== undefined && <CopyButton text={deadlockText(query.data.deadlock)} label="Copy as text" />}
      </header>
      <Answer query={query} waitsFor="the backend to read the deadlock">
        {(answer) => (
          <>
            <Facts deadlock={answer.deadlock} address={address} />
            <SourcesNotice answer={answer} empty={false} />
            <DeadlockCycle deadlock={answer.deadlock} address={address} />
          </>
        )}
      </Answer>
    </>
  );
}

function Facts({ deadlock, address }: { deadlock: Deadlock; address: Address }) {
  const { workload, namespace, cluster, pod, container, node, pid, first_seen, last_seen } = deadlock;
  const place = [cluster, namespace].filter((part) => part !== '').join(' / ');
  return (
    <p className={styles['facts']} data-testid="deadlock-facts">
      <span>
        {visibleText(place)}
        {place !== '' && ' / '}
        <Link to={tabAddress(deadlock, address.search, '')}>
          <Name text={workload} />
        </Link>
      </span>
      {pod !== '' && (
        <span>
          Pod <Name text={pod} /> {container !== '' && <Name text={`(${container})`} />}
        </span>
      )}
      <span>
        Node <Name text={node} />, pid {pid}
      </span>
      <span>
        First seen {formatTime(first_seen)}, last seen {formatTime(last_seen)}
      </span>
      {deadlock.inferred && <span>Probable, not found by the JVM</span>}
      {deadlock.ended === null ? <Standing deadlock={deadlock} /> : <span>{standing(deadlock)}</span>}
    </p>
  );
}
