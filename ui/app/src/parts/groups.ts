// SPDX-License-Identifier: Apache-2.0
// The three graphs of a service, and which profile types each can show.

export interface GraphGroup {
  key: 'cpu' | 'alloc' | 'lock';
  name: string;
  /** Profile types with their short names; the first is the default. */
  types: [type: string, name: string][];
}

export const GROUPS: GraphGroup[] = [
  { key: 'cpu', name: 'CPU', types: [['cpu', 'time']] },
  {
    key: 'alloc',
    name: 'Allocation',
    types: [
      ['alloc_bytes', 'bytes'],
      ['alloc_objects', 'objects'],
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

/** The type that the address asks for, or the group's first. */
export function chosenType(group: GraphGroup, asked: string): string {
  const found = group.types.find(([type]) => type === asked);
  return (found ?? group.types[0]!)[0];
}
