// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from 'react';
import type { TimelineAnswer } from '../../api/timeline.ts';
import { formatTime } from '../../url/range.ts';
import type { Address } from '../../url/useAddress.ts';
import { brushSpan, timeAt } from '../timeTrack.ts';
import { Axis, Brush, BRUSH_KEYS, useBrush } from '../TimeTrack.tsx';
import { bucketText, shapes, timelineText, VIEW_BOX } from './timeline.ts';
import styles from './Timeline.module.css';

/** Shows one type over time. Dragging over it, or a click, selects the time range of the page. */
export function Timeline({ answer, address }: { answer: TimelineAnswer; address: Address }) {
  const [readout, setReadout] = useState('');
  const { from, to } = answer.meta;
  const buckets = { from, to, bucket_ms: answer.bucket_ms };
  const spanOf = (a: number, b: number) => brushSpan(buckets, a, b);
  const read = (at: number) => {
    setReadout(`${formatTime(timeAt(buckets, at))}: ${bucketText(answer, at)}`);
  };
  const { dragged, handlers } = useBrush(buckets, read, (a, b) => address.setRange(spanOf(a, b)));
  const paths = useMemo(() => shapes(answer), [answer]);
  const text = useMemo(() => timelineText(answer), [answer]);
  return (
    <div className={styles['timeline']} data-testid={`timeline-${answer.type}`}>
      <p className={styles['readout']} aria-live="polite">
        {readout === '' ? `${text}. Drag over it, or use ${BRUSH_KEYS}, to select a time range.` : readout}
      </p>
      <div
        role="group"
        aria-label="Select a time range"
        className={styles['track']}
        data-testid="timeline-track"
        {...handlers}
        onPointerLeave={() => setReadout('')}
      >
        <svg viewBox={VIEW_BOX} preserveAspectRatio="none" className={styles['drawing']} role="img" aria-label={text}>
          <path d={paths.gaps} className={styles['gaps']} />
          <path d={paths.bars} className={styles['bars']} />
        </svg>
        {dragged !== null && <Brush from={from} to={to} span={spanOf(...dragged)} />}
      </div>
      <Axis from={from} to={to} />
    </div>
  );
}
