// SPDX-License-Identifier: Apache-2.0
import { shorten, visibleText } from '@hotstack/flamegraph';

/** Shows a name from a profiled program: made safe, without effect on the direction of the text around it, and cut in the middle. */
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

/** Shows some names, and the number of the others. */
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
