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
