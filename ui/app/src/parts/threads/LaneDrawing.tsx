// SPDX-License-Identifier: Apache-2.0
import { useMemo } from 'react';
import { BAND, drawing, HEIGHT, STATES, VIEW_BOX, type Bar } from './lanes.ts';
import { coresText } from '../words.ts';
import styles from './lanes.module.css';

interface LaneDrawingProps {
  bars: Bar[];
  /** The cores that the full height stands for. */
  full: number;
  label: string;
}

export function LaneDrawing({ bars, full, label }: LaneDrawingProps) {
  const paths = useMemo(() => drawing(bars, full), [bars, full]);
  return (
    <svg viewBox={VIEW_BOX} preserveAspectRatio="none" className={styles['drawing']} role="img" aria-label={label}>
      <rect className={styles['ground']} x="0" y={HEIGHT - BAND} width="100%" height={BAND} />
      <path d={paths.cpu} className={styles['cpu']} />
      <path d={paths.waits} className={styles['waits']} />
      {STATES.map((state) => (
        <path key={state} d={paths.states[state]} data-state={state} />
      ))}
    </svg>
  );
}

/** Explains the colours and the height. `each` says to what the height refers, where that is not the whole. */
export function LaneLegend({ full, each = '' }: { full: number; each?: string }) {
  return (
    <p className={styles['legend']}>
      <span data-mark="cpu">
        CPU, full height = {coresText(full)}
        {each}
      </span>
      <span data-state="RUNNABLE">runnable</span>
      <span data-state="BLOCKED">blocked</span>
      <span data-state="WAITING">waiting</span>
      <span data-state="TIMED_WAITING">timed waiting</span>
      <span data-mark="waits">waits for a lock</span>
    </p>
  );
}
