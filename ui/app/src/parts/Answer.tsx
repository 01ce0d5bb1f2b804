// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState, type ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { ErrorNotice, StaleNotice } from './ErrorNotice.tsx';
import { Notice } from './Notice.tsx';
import styles from './Answer.module.css';

interface AnswerProps<T> {
  query: UseQueryResult<T>;
  /** What the reader waits for: `the backend to read thread snapshots`. */
  waitsFor: string;
  children: (data: T) => ReactNode;
}

/** Shows a query's content, or its state without content. Content that could not be refreshed stays, with a notice. */
export function Answer<T>({ query, waitsFor, children }: AnswerProps<T>) {
  const { data, error, failureReason, dataUpdatedAt, isPlaceholderData } = query;
  if (data === undefined) {
    // Between two tries the last failure is what the reader should know.
    const problem = error ?? failureReason;
    return problem === null ? <Loading waitsFor={waitsFor} /> : <ErrorNotice error={problem} />;
  }
  return (
    <>
      {error !== null && <StaleNotice error={error} since={dataUpdatedAt} />}
      <div className={`${styles['content']} ${isPlaceholderData ? styles['fading'] : ''}`} aria-busy={isPlaceholderData}>
        {children(data)}
      </div>
    </>
  );
}

const PATIENCE_MS = 2_000;

function Loading({ waitsFor }: { waitsFor: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Notice title="Loading" busy testId="loading">
      {late ? `Waiting for ${waitsFor}. A long time range takes longer.` : <span className={styles['skeleton']} />}
    </Notice>
  );
}
