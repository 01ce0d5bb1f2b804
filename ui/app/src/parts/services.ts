// SPDX-License-Identifier: Apache-2.0
// Sorting, filtering and rates of the list of services.
import { formatValue } from '@hotstack/flamegraph';
import type { ServiceRow, TypeTotal } from '../api/types.ts';

export type SortKey = 'workload' | 'targets' | 'cpu' | 'alloc_bytes' | 'lock_delay';

const byName = (a: ServiceRow, b: ServiceRow) =>
  a.workload.localeCompare(b.workload) || a.namespace.localeCompare(b.namespace) || a.cluster.localeCompare(b.cluster);

function weight(service: ServiceRow, key: SortKey): number {
  return key === 'targets' ? service.targets : Number(service.types[key]?.value_total ?? -1);
}

/** Sorts the heaviest first, or by name. An unknown key sorts by name. */
export function sortedServices(services: ServiceRow[], key: SortKey): ServiceRow[] {
  return [...services].sort((a, b) => (key === 'workload' ? 0 : weight(b, key) - weight(a, key)) || byName(a, b));
}

/** Returns services whose cluster, namespace or workload contains every word of the filter. */
export function matchingServices(services: ServiceRow[], filter: string): ServiceRow[] {
  const words = filter.toLowerCase().split(/\s+/);
  return services.filter((service) => {
    const text = `${service.cluster} ${service.namespace} ${service.workload}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Returns the average over the range: `42 ms/s`, `1.5 MiB/s`. */
export function rateText({ value_total, unit }: TypeTotal, seconds: number): string {
  return `${formatValue(Number(value_total) / seconds, unit)}/s`;
}
