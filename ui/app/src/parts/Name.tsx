// SPDX-License-Identifier: Apache-2.0
import { shorten, visibleText } from '@hotstack/flamegraph';

/** A name out of a profiled program: made safe, kept from changing the direction of what stands around it, cut in the middle. */
export function Name({ text, max = 60 }: { text: string; max?: number }) {
  const safe = visibleText(text);
  const shown = shorten(safe, max);
  return (
    <bdi dir="ltr" title={shown === safe ? undefined : safe}>
      {shown === '' ? '(no name)' : shown}
    </bdi>
  );
}

const MOST = 12;

/** Some names, and how many more there are. */
export function Names({ names, count = names.length }: { names: string[]; count?: number }) {
  const shown = names.slice(0, MOST);
  return (
    <>
      {shown.map((name, index) => (
        <span key={index}>
          {index > 0 && ', '}
          <Name text={name} max={40} />
        </span>
      ))}
      {count > shown.length && ` and ${count - shown.length} more`}
    </>
  );
}
