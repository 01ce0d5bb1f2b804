// SPDX-License-Identifier: Apache-2.0
// What drawings over time share: dragging, the dragged part, and the axis below.
import { useState, type PointerEvent } from 'react';
import { formatTime } from '../url/range.ts';
import styles from './TimeTrack.module.css';

/**
 * Lets the user point at an element and drag over it. Places are shares of its width. `dragged` are the two places of the
 * drag under way, or null; `handlers` belong on the element.
 */
export function useBrush(onPoint: (at: number) => void, onPick: (a: number, b: number) => void) {
  const [start, setStart] = useState<number | null>(null);
  const [now, setNow] = useState(0);
  const place = (event: PointerEvent) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return (event.clientX - left) / width;
  };
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      setStart(place(event));
      setNow(place(event));
    },
    onPointerMove: (event: PointerEvent) => {
      setNow(place(event));
      onPoint(place(event));
    },
    onPointerUp: () => {
      if (start === null) return;
      setStart(null);
      onPick(start, now);
    },
    onPointerCancel: () => setStart(null),
  };
  return { dragged: start === null ? null : ([start, now] as const), handlers };
}

/** Marks a span of the time from `from` to `to`, over the whole parent. */
export function Brush({ from, to, span }: { from: string; to: string; span: { from: number; to: number } }) {
  const start = Date.parse(from);
  const share = (time: number) => Math.min(100, Math.max(0, ((time - start) / (Date.parse(to) - start)) * 100));
  return (
    <svg className={styles['brush']} aria-hidden="true">
      <rect x={`${share(span.from)}%`} y="0" width={`${share(span.to) - share(span.from)}%`} height="100%" />
    </svg>
  );
}

export function Axis({ from, to }: { from: string; to: string }) {
  const middle = new Date((Date.parse(from) + Date.parse(to)) / 2).toISOString();
  return (
    <div className={styles['axis']} aria-hidden="true">
      {[from, middle, to].map((time) => (
        <span key={time}>{formatTime(time).slice(11)}</span>
      ))}
    </div>
  );
}
