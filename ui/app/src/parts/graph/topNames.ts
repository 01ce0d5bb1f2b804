// SPDX-License-Identifier: Apache-2.0
import { frameName, visibleText } from '@hotstack/flamegraph';
import type { TopRow } from '../../api/types.ts';

/** Returns the name as the graphs show it, so that a click finds it there. */
export function rowName({ class: cls, method }: Pick<TopRow, 'class' | 'method'>): string {
  return visibleText(frameName(cls, method));
}
