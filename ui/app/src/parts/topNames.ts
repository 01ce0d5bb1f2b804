// Names in the top table.
import { visibleText } from '@hotstack/flamegraph';
import type { TopRow } from '../api/types.ts';

/** The name as the graphs show it, so that a click finds it there. */
export function rowName({ class: cls, method, kind }: Pick<TopRow, 'class' | 'method' | 'kind'>): string {
  const name = cls === '' ? method || '(no name)' : `${cls}${kind === 'java' ? '.' : '!'}${method}`;
  return visibleText(name);
}

/** A search that finds this name and no other. */
export function exactQuery(name: string): string {
  return `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
}
