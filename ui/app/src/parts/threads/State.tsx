// SPDX-License-Identifier: Apache-2.0
import { unknownWord } from './words.ts';
import styles from './threads.module.css';

const WORDS: Record<string, string> = { RUNNABLE: 'runnable', BLOCKED: 'blocked', WAITING: 'waiting', TIMED_WAITING: 'timed waiting' };

export function stateWord(state: string): string {
  return Object.hasOwn(WORDS, state) ? WORDS[state]! : unknownWord(state);
}

/** Shows a thread's state: a colour and its word. */
export function State({ state }: { state: string }) {
  return (
    <span className={styles['state']} data-state={state}>
      {stateWord(state)}
    </span>
  );
}
