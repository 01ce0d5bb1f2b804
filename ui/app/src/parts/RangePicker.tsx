// SPDX-License-Identifier: Apache-2.0
import * as Popover from '@radix-ui/react-popover';
import { useState, type FormEvent } from 'react';
import { formatTime, isMoving, PRESETS, resolveRange, type Preset, type TimeRange } from '../url/range.ts';
import type { Address } from '../url/useAddress.ts';
import { Choice } from './Choice.tsx';
import controls from './controls.module.css';
import styles from './RangePicker.module.css';

const OPTIONS = Object.keys(PRESETS).map((preset): [string, string] => [preset, preset]);

/** What a datetime-local field takes, in the browser's time zone. */
const fieldTime = (time: number) => formatTime(time).replace(' ', 'T');

export function RangePicker({ address }: { address: Address }) {
  const { range, live } = address.refresh;
  return (
    <div className={styles['picker']} role="group" aria-label="Time range">
      <Choice
        label="Time range"
        testId="range-presets"
        value={isMoving(range) ? range.preset : ''}
        options={OPTIONS}
        onChange={(preset) => address.setRange({ preset: preset as Preset })}
      />
      <AbsoluteRange key={JSON.stringify(range)} range={range} onChange={address.setRange} />
      <button
        type="button"
        className={controls['button']}
        aria-pressed={live}
        data-testid="live-toggle"
        title="Refresh by itself"
        onClick={() => address.setLive(!live)}
      >
        Live
      </button>
    </div>
  );
}

function AbsoluteRange({ range, onChange }: { range: TimeRange; onChange: (range: TimeRange) => void }) {
  const [open, setOpen] = useState(false);
  const [problem, setProblem] = useState('');
  const current = resolveRange(range, Date.now());
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const from = Date.parse(String(data.get('from')));
    const to = Date.parse(String(data.get('to')));
    if (Number.isNaN(from) || Number.isNaN(to)) return setProblem('Both times are needed.');
    if (from >= to) return setProblem('The start must be before the end.');
    setOpen(false);
    onChange({ from, to });
  };
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger className={controls['button']} data-testid="range-absolute">
        {isMoving(range) ? 'From, to' : `${formatTime(range.from)} \u2013 ${formatTime(range.to)}`}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className={styles['popover']} align="end" sideOffset={6} aria-label="Absolute time range">
          <form className={styles['form']} onSubmit={submit}>
            <label>
              From
              <input className={controls['field']} type="datetime-local" step="1" name="from" defaultValue={fieldTime(current.from)} />
            </label>
            <label>
              To
              <input className={controls['field']} type="datetime-local" step="1" name="to" defaultValue={fieldTime(current.to)} />
            </label>
            <span className={styles['zone']}>{Intl.DateTimeFormat().resolvedOptions().timeZone}</span>
            <button type="submit" className={`${controls['button']} ${controls['primary']}`}>
              Show
            </button>
            {problem !== '' && (
              <span role="alert" className={styles['problem']}>
                {problem}
              </span>
            )}
          </form>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
