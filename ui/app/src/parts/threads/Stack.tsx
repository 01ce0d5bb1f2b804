// SPDX-License-Identifier: Apache-2.0
import { shorten } from '@hotstack/flamegraph';
import type { Frame } from '../../api/threads.ts';
import { Name } from '../Name.tsx';
import { frameText } from './words.ts';
import styles from './threads.module.css';

/** Frames that are shown before the reader asks for the rest. */
const FIRST = 12;
const LONGEST_LINE = 240;

interface StackProps {
  stack: Frame[];
  /** Words for single frames by their index: what the thread holds or waits for there. */
  marks?: Map<number, string>;
}

/** Shows a stack, leaf first. Marked frames are always visible. */
export function Stack({ stack, marks = new Map() }: StackProps) {
  if (stack.length === 0) {
    return (
      <p className={styles['faint']}>
        No stack was taken of this thread. Snapshots take the stacks of threads that are busy, blocked or hold a lock.
      </p>
    );
  }
  const first = Math.max(FIRST, ...[...marks.keys()].map((index) => index + 1));
  const rest = stack.slice(first);
  const line = (frame: Frame, index: number) => (
    <li key={index} data-kind={frame.kind} data-marked={marks.has(index) || undefined}>
      <bdi dir="ltr">{shorten(frameText(frame), LONGEST_LINE)}</bdi>
      {marks.has(index) && (
        <strong className={styles['mark']}>
          <Name text={marks.get(index)!} max={70} />
        </strong>
      )}
    </li>
  );
  return (
    <>
      <ol className={styles['stack']} data-testid="stack">
        {stack.slice(0, first).map(line)}
      </ol>
      {rest.length > 0 && (
        <details className={styles['more']}>
          <summary>{rest.length === 1 ? '1 more frame' : `${rest.length} more frames`}</summary>
          <ol className={styles['stack']} start={first + 1}>
            {rest.map((frame, index) => line(frame, first + index))}
          </ol>
        </details>
      )}
    </>
  );
}
