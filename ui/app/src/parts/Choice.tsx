// SPDX-License-Identifier: Apache-2.0
import * as ToggleGroup from '@radix-ui/react-toggle-group';
import styles from './controls.module.css';

interface ChoiceProps {
  label: string;
  value: string;
  options: [value: string, name: string][];
  onChange: (value: string) => void;
  testId?: string;
}

/** Shows a few exclusive options side by side. */
export function Choice({ label, value, options, onChange, testId }: ChoiceProps) {
  return (
    <ToggleGroup.Root
      type="single"
      className={styles['group']}
      aria-label={label}
      value={value}
      data-testid={testId}
      onValueChange={(next) => next !== '' && onChange(next)}
    >
      {options.map(([option, name]) => (
        <ToggleGroup.Item key={option} value={option} className={styles['item']}>
          {name}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}
