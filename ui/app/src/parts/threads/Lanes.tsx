// SPDX-License-Identifier: Apache-2.0
import { useState, type KeyboardEvent } from 'react';
import { Link } from 'react-router';
import type { Lane, LanesAnswer } from '../../api/threads.ts';
import type { ServiceId } from '../../api/types.ts';
import { tabAddress } from '../../url/address.ts';
import { formatTime } from '../../url/range.ts';
import type { Address } from '../../url/useAddress.ts';
import { Name } from '../Name.tsx';
import { moveBetweenRows } from '../rowKeys.ts';
import { brushSpan, timeAt } from '../timeTrack.ts';
import { Axis, Brush, BRUSH_KEYS, useBrush } from '../TimeTrack.tsx';
import { LaneDrawing, LaneLegend } from './LaneDrawing.tsx';
import { barAt, barText, fullHeight, laneText, poolBars, readBrush, sortedLanes, writeBrush, type Bar } from './lanes.ts';
import { PoolThreads } from './PoolThreads.tsx';
import { NothingSeen } from './SourcesNotice.tsx';
import { plural } from '../words.ts';
import styles from './lanes.module.css';

interface LanesProps {
  answer: LanesAnswer;
  service: ServiceId;
  address: Address;
}

const UNFOLDED_KEY = 'unfold';
const BRUSH_KEY = 'brush';

/** Shows one lane for each pool: states by colour, CPU by height. A lane opens to its threads; dragging over it, or keys, select a time span. */
export function Lanes({ answer, service, address }: LanesProps) {
  const [readout, setReadout] = useState('');
  if (answer.lanes.length === 0)
    return <NothingSeen sources={answer.sources} title="No threads" nothing="no thread is left by these filters." />;
  const lanes = sortedLanes(answer.lanes).map((lane) => ({ lane, bars: poolBars(lane.cells, answer.bucket_ms) }));
  const full = fullHeight(lanes.map(({ bars }) => bars));
  const unfolded = address.search.get(UNFOLDED_KEY);
  return (
    <section className={styles['lanes']} aria-label="Thread pools over time">
      <LaneLegend full={full} each={answer.sources.jvms > 1 ? ' in one JVM, on average' : ''} />
      <p className={styles['readout']} data-testid="readout" aria-live="polite">
        {readout === '' ? `Point at a lane to read it; drag over it, or use ${BRUSH_KEYS}, to select a time span.` : readout}
      </p>
      <div role="treegrid" aria-label="Thread pools" data-testid="lanes" onKeyDown={moveBetweenRows}>
        {lanes.map(({ lane, bars }) => {
          const open = unfolded === lane.pool;
          const toggle = (next: boolean) => address.narrow({ [UNFOLDED_KEY]: next ? lane.pool : null });
          return (
            <PoolRows
              key={lane.pool}
              lane={lane}
              bars={bars}
              full={full}
              open={open}
              onToggle={toggle}
              onRead={setReadout}
              {...{ answer, service, address }}
            />
          );
        })}
      </div>
      <div className={styles['below']}>
        <Axis from={answer.from} to={answer.to} />
      </div>
    </section>
  );
}

interface PoolRowsProps extends LanesProps {
  lane: Lane;
  bars: Bar[];
  full: number;
  open: boolean;
  onToggle: (open: boolean) => void;
  onRead: (readout: string) => void;
}

function PoolRows({ lane, bars, full, open, onToggle, onRead, answer, service, address }: PoolRowsProps) {
  const onKey = (event: KeyboardEvent) => {
    const wanted = { Enter: !open, ' ': !open, ArrowRight: true, ArrowLeft: false }[event.key];
    if (wanted === undefined || event.target !== event.currentTarget) return;
    event.preventDefault();
    if (wanted !== open) onToggle(wanted);
  };
  return (
    <>
      <div
        role="row"
        className={styles['row']}
        aria-level={1}
        aria-expanded={open}
        tabIndex={0}
        data-row
        data-pool={lane.pool}
        data-testid="lane"
        onKeyDown={onKey}
      >
        <div role="gridcell" className={styles['head']} onClick={() => onToggle(!open)}>
          <span className={styles['name']}>
            <Name text={lane.pool} max={40} />
          </span>
          <span className={styles['faint']}>{plural(lane.threads, 'thread')}</span>
        </div>
        <Track lane={lane} bars={bars} full={full} onRead={onRead} answer={answer} address={address} />
      </div>
      <BrushRow pool={lane.pool} service={service} address={address} />
      {open && <PoolThreads pool={lane.pool} threads={lane.threads} service={service} address={address} onRead={onRead} />}
    </>
  );
}

function Track({
  lane,
  bars,
  full,
  onRead,
  answer,
  address,
}: Pick<PoolRowsProps, 'lane' | 'bars' | 'full' | 'onRead' | 'answer' | 'address'>) {
  const read = (at: number) => {
    const bar = barAt(bars, at);
    onRead(`${formatTime(timeAt(answer, at))}: ${bar === undefined ? 'no snapshot' : barText(bar)}`);
  };
  const pick = (a: number, b: number) => address.set(BRUSH_KEY, writeBrush(brushSpan(answer, a, b), lane.pool), '', true);
  const { dragged, handlers } = useBrush(answer, read, pick);
  const kept = readBrush(address.get(BRUSH_KEY, ''));
  const span = dragged !== null ? brushSpan(answer, ...dragged) : kept?.pool === lane.pool ? kept : null;
  return (
    <div
      role="gridcell"
      className={styles['track']}
      data-testid="track"
      {...handlers}
      onPointerLeave={() => onRead('')}
    >
      <LaneDrawing bars={bars} full={full} label={laneText(bars)} />
      {span !== null && <Brush from={answer.from} to={answer.to} span={span} />}
    </div>
  );
}

/** Shows links to the data of the selected span. */
function BrushRow({ pool, service, address }: { pool: string; service: ServiceId; address: Address }) {
  const span = readBrush(address.get(BRUSH_KEY, ''));
  if (span === null || span.pool !== pool) return null;
  const change = { from: new Date(span.from).toISOString(), to: new Date(span.to).toISOString(), pool };
  return (
    <div role="row" aria-level={2} className={styles['selected']} data-testid="brush">
      <div role="gridcell">
        {formatTime(span.from)} – {formatTime(span.to).slice(11)}: open{' '}
        {(['threads', 'cpu', 'memory', 'locks'] as const).map((tab) => (
          <Link key={tab} to={tabAddress(service, address.search, tab, change)}>
            {{ threads: 'Threads', cpu: 'CPU', memory: 'Memory', locks: 'Locks' }[tab]}
          </Link>
        ))}
        <button type="button" className={styles['plain']} onClick={() => address.set(BRUSH_KEY, '', '', true)}>
          Clear
        </button>
      </div>
    </div>
  );
}
