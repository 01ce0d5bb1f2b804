// SPDX-License-Identifier: Apache-2.0
// One hook per call. The key holds what the user chose (a moving range stays one key), the address holds the times of the moment.
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { readDocument, type Profile } from '@hotstack/flamegraph';
import { rangeKey, refreshInterval, resolveRange, type TimeRange } from '../url/range.ts';
import { getTagged, queryString, type Parameters, type Tagged } from './client.ts';
import type { Meta, ServiceId, ServicesAnswer, StatusAnswer, TopAnswer } from './types.ts';

export interface Refresh {
  range: TimeRange;
  live: boolean;
}

export interface FlameAnswer {
  profile: Profile;
  meta: Meta;
}

function listOf<T>(key: string): (json: unknown) => T {
  return (json) => {
    if (!Array.isArray((json as Record<string, unknown> | null)?.[key])) throw new Error(`"${key}" is not a list`);
    return json as T;
  };
}

function flameAnswer(json: unknown): FlameAnswer {
  const { profiles, meta } = readDocument(json);
  return { profile: profiles[0]!, meta: meta as unknown as Meta };
}

function useTagged<T>(
  path: string,
  parameters: Parameters,
  { range, live }: Refresh,
  decode: (json: unknown) => T,
  enabled = true,
): UseQueryResult<T> {
  const client = useQueryClient();
  const key = [path, parameters, rangeKey(range)];
  return useQuery({
    queryKey: key,
    enabled,
    queryFn: ({ signal }) => {
      const address = path + queryString({ ...parameters, ...resolveRange(range, Date.now()) });
      return getTagged<T>(address, client.getQueryData<Tagged<T>>(key), decode, signal);
    },
    select: taken,
    refetchInterval: live ? refreshInterval(range, Date.now()) : false,
    // Another time range of the same thing: the old picture stays until the new one is there. Another thing: never.
    placeholderData: (previous, query) => (sameThing(query?.queryKey, key) ? previous : undefined),
    structuralSharing: false,
  }) as UseQueryResult<T>;
}

function taken<T>({ value }: Tagged<T>): T {
  return value;
}

function sameThing(before: readonly unknown[] | undefined, now: unknown[]): boolean {
  return before !== undefined && JSON.stringify(before.slice(0, 2)) === JSON.stringify(now.slice(0, 2));
}

const selection = ({ cluster, namespace, workload }: ServiceId) => ({ cluster, namespace, workload });

export function useServices(refresh: Refresh): UseQueryResult<ServicesAnswer> {
  return useTagged('/v1/services', {}, refresh, listOf<ServicesAnswer>('services'));
}

export function useFlamegraph(service: ServiceId, type: string, refresh: Refresh): UseQueryResult<FlameAnswer> {
  return useTagged('/v1/flamegraph', { ...selection(service), type }, refresh, flameAnswer);
}

export function useTop(service: ServiceId, type: string, limit: number, refresh: Refresh): UseQueryResult<TopAnswer> {
  return useTagged('/v1/top', { ...selection(service), type, limit }, refresh, listOf<TopAnswer>('rows'));
}

export function useStatus(service: ServiceId, refresh: Refresh): UseQueryResult<StatusAnswer> {
  return useTagged('/v1/status', selection(service), refresh, listOf<StatusAnswer>('targets'));
}
