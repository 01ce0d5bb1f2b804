// SPDX-License-Identifier: Apache-2.0
import type { Option } from './filters.ts';
import styles from './frame.module.css';
import controls from '../controls.module.css';

interface SelectProps {
  label: string;
  /** The words for no choice. */
  all: string;
  value: string | null;
  options: Option[];
  onChange: (value: string | null) => void;
  testId: string;
}

/** Lets the user choose one value, or all. The first option's value cannot equal a name, because it has no prefix. */
export function Select({ label, all, value, options, onChange, testId }: SelectProps) {
  return (
    <select
      className={`${controls['field']} ${styles['select']}`}
      aria-label={label}
      data-testid={testId}
      value={value === null ? '' : `=${value}`}
      onChange={(event) => onChange(event.target.value === '' ? null : event.target.value.slice(1))}
    >
      <option value="">{all}</option>
      {options.map(([option, name]) => (
        <option key={option} value={`=${option}`}>
          {name}
        </option>
      ))}
    </select>
  );
}
