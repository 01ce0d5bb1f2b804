// SPDX-License-Identifier: Apache-2.0
// The three graphs of a service, and which profile types each can show.

export interface GraphGroup {
  key: 'cpu' | 'alloc' | 'lock';
  name: string;
  /** Profile types with their short names; the first is the default. */
  types: [type: string, name: string][];
  /** Types that are recorded only where somebody asks for them: offered where they have samples. */
  more?: [type: string, name: string][];
}

export const GROUPS: GraphGroup[] = [
  { key: 'cpu', name: 'CPU', types: [['cpu', 'time']], more: [['wall', 'wall time']] },
  {
    key: 'alloc',
    name: 'Allocation',
    types: [
      ['alloc_bytes', 'bytes'],
      ['alloc_objects', 'objects'],
    ],
    more: [
      ['live_bytes', 'live'],
      ['nativemem_bytes', 'native'],
    ],
  },
  {
    key: 'lock',
    name: 'Locks',
    types: [
      ['lock_delay', 'delay'],
      ['lock_count', 'count'],
    ],
  },
];

/** Returns the types that a service has samples of, or that the address asks for. */
export function typesOf({ types, more = [] }: GraphGroup, present: ReadonlySet<string>, asked: string): [string, string][] {
  return [...types, ...more.filter(([type]) => present.has(type) || type === asked)];
}

/** Returns the type that the address asks for, or the group's first. */
export function chosenType({ types, more = [] }: GraphGroup, asked: string): string {
  const found = [...types, ...more].find(([type]) => type === asked);
  return (found ?? types[0]!)[0];
}
