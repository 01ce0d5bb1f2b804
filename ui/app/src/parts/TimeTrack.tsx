// SPDX-License-Identifier: Apache-2.0
// What drawings over time share: dragging, the dragged part, and the axis below.
import { useState, type KeyboardEvent, type PointerEvent } from 'react';
import { formatTime } from '../url/range.ts';
import { placeByKey, type TimeBuckets } from './timeTrack.ts';
import styles from './TimeTrack.module.css';

/** The keys of useBrush, in words. */
export const BRUSH_KEYS = 'the arrow keys with Shift and Enter';

/**
 * Lets the user point at an element and drag over it, or do both by keys: an arrow key points at a bucket, Shift holds the other
 * end, Enter picks. Places are shares of the element's width. `dragged` are the two places of the selection under way, or null;
 * `handlers` belong on the element.
 */
export function useBrush(buckets: TimeBuckets, onPoint: (at: number) => void, onPick: (a: number, b: number) => void) {
  const [start, setStart] = useState<number | null>(null);
  const [now, setNow] = useState(0);
  const [keyed, setKeyed] = useState(false); // the selection under way is made by keys
  const leave = () => {
    setStart(null);
    setKeyed(false);
  };
  const place = (event: PointerEvent) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return (event.clientX - left) / width;
  };
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      setKeyed(false);
      setStart(place(event));
      setNow(place(event));
    },
    onPointerMove: (event: PointerEvent) => {
      if (keyed) leave();
      setNow(place(event));
      onPoint(place(event));
    },
    onPointerUp: () => {
      if (start === null) return;
      leave();
      onPick(start, now);
    },
    onPointerCancel: leave,
    tabIndex: 0,
    onBlur: leave,
    onKeyDown: (event: KeyboardEvent) => {
      const next = placeByKey(event.key, keyed ? now : null, buckets);
      if (next !== null) {
        setStart(!event.shiftKey ? null : keyed ? (start ?? now) : next);
        setNow(next);
        setKeyed(true);
        onPoint(next);
      } else if (keyed && event.key === 'Enter') {
        leave();
        onPick(start ?? now, now);
      } else if (keyed && event.key === 'Escape') {
        leave();
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    },
  };
  return { dragged: start !== null || keyed ? ([start ?? now, now] as const) : null, handlers };
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
