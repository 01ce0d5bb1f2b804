// SPDX-License-Identifier: Apache-2.0
// One hook per call. The key holds what the user chose (a moving range stays one key), the address holds the times of the moment.
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { readDocument, type Profile } from '@hotstack/flamegraph';
import { servicePath } from '../url/address.ts';
import { rangeKey, refreshInterval, resolveRange, type TimeRange } from '../url/range.ts';
import { getTagged, queryString, type Parameters, type Tagged } from './client.ts';
import type { Decoder } from './decode.ts';
import { collectorsAnswer, ingestionAnswer, retentionAnswer, type CollectorsAnswer, type IngestionAnswer, type RetentionAnswer } from './ingestion.ts';
import { historyAnswer, statusAnswer, type HistoryAnswer, type StatusAnswer } from './status.ts';
import {
  deadlockAnswer,
  deadlocksAnswer,
  lanesAnswer,
  locksAnswer,
  threadAnswer,
  threadsAnswer,
  type DeadlockAnswer,
  type DeadlocksAnswer,
  type LanesAnswer,
  type LocksAnswer,
  type ThreadAnswer,
  type ThreadsAnswer,
} from './threads.ts';
import { timelineAnswer, type TimelineAnswer } from './timeline.ts';
import type { Meta, Narrowed, ServiceId, ServicesAnswer, TopAnswer } from './types.ts';

export interface Refresh {
  range: TimeRange;
  live: boolean;
}

export interface FlameAnswer {
  profile: Profile;
  meta: Meta;
}

function listOf<T>(key: string): Decoder<T> {
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
  decode: Decoder<T>,
  enabled = true,
): UseQueryResult<T> {
  const client = useQueryClient();
  const key = [path, parameters, rangeKey(range)];
  return useQuery({
    queryKey: key,
    enabled,
    queryFn: ({ signal }) => {
      const address = path + queryString({ ...parameters, ...resolveRange(range, Date.now()) });
      return getTagged<T>(address, client.getQueryData<Tagged<T>>(key), (json) => decode(json, ''), signal);
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

export function useFlamegraph(service: ServiceId, narrowed: Narrowed, type: string, refresh: Refresh): UseQueryResult<FlameAnswer> {
  return useTagged('/v1/flamegraph', { ...selection(service), ...narrowed, type }, refresh, flameAnswer);
}

export function useTop(
  service: ServiceId,
  narrowed: Narrowed,
  type: string,
  limit: number,
  refresh: Refresh,
): UseQueryResult<TopAnswer> {
  return useTagged('/v1/top', { ...selection(service), ...narrowed, type, limit }, refresh, listOf<TopAnswer>('rows'));
}

/** `wanted` false: the type has no sums over time, and is not asked for. */
export function useTimeline(service: ServiceId, narrowed: Narrowed, type: string, refresh: Refresh, wanted: boolean): UseQueryResult<TimelineAnswer> {
  return useTagged('/v1/timeline', { ...selection(service), ...narrowed, type }, refresh, timelineAnswer, wanted);
}

/** What one service has samples of. */
export interface Present {
  types: ReadonlySet<string>;
  /** Names of thread pools, the most frequent first. */
  pools: string[];
}

export function usePresent(service: ServiceId, refresh: Refresh): UseQueryResult<Present> {
  return useTagged(`/v1${servicePath(service, '')}`, { cluster: service.cluster }, refresh, presentAnswer);
}

function presentAnswer(json: unknown): Present {
  const { types, pools } = (json ?? {}) as Record<string, unknown>;
  if (typeof types !== 'object' || types === null) throw new Error('"types" is not an object');
  if (!Array.isArray(pools) || !pools.every((name) => typeof name === 'string')) throw new Error('"pools" is not a list of names');
  return { types: new Set(Object.keys(types)), pools };
}

/** Returns the JVMs of one service, or of all services for null. */
export function useStatus(service: ServiceId | null, refresh: Refresh): UseQueryResult<StatusAnswer> {
  return useTagged('/v1/status', service === null ? {} : selection(service), refresh, statusAnswer);
}

/** Returns the reported states of one JVM over time. */
export function useHistory(service: ServiceId, jvm: string, refresh: Refresh): UseQueryResult<HistoryAnswer> {
  return useTagged('/v1/status', { ...selection(service), jvm, limit: MOST_ROWS }, refresh, historyAnswer);
}

/** Entries of each list about threads and locks. Each has a stack, so that more of them are slow to send. */
const MOST_ROWS = 300;

export function useThreads(service: ServiceId, narrowed: Narrowed, refresh: Refresh): UseQueryResult<ThreadsAnswer> {
  return useTagged('/v1/threads', { ...selection(service), ...narrowed, limit: MOST_ROWS }, refresh, threadsAnswer);
}

export function useLanes(service: ServiceId, narrowed: Narrowed, buckets: number, refresh: Refresh): UseQueryResult<LanesAnswer> {
  return useTagged('/v1/threads/lanes', { ...selection(service), ...narrowed, buckets }, refresh, lanesAnswer);
}

export function useThread(service: ServiceId, jvm: string, tid: string, refresh: Refresh): UseQueryResult<ThreadAnswer> {
  return useTagged('/v1/threads/one', { ...selection(service), jvm, java_tid: tid, limit: MOST_ROWS }, refresh, threadAnswer);
}

export function useLocks(service: ServiceId, narrowed: Narrowed, refresh: Refresh): UseQueryResult<LocksAnswer> {
  return useTagged('/v1/locks', { ...selection(service), ...narrowed, limit: MOST_ROWS }, refresh, locksAnswer);
}

export function useCollectors(refresh: Refresh): UseQueryResult<CollectorsAnswer> {
  return useTagged('/v1/collectors', {}, refresh, collectorsAnswer);
}

export function useIngestion(refresh: Refresh): UseQueryResult<IngestionAnswer> {
  return useTagged('/v1/ingestion', {}, refresh, ingestionAnswer);
}

export function useRetention(refresh: Refresh): UseQueryResult<RetentionAnswer> {
  return useTagged('/v1/retention', {}, refresh, retentionAnswer);
}

/** Returns the deadlocks of one service, or of all services for null. */
export function useDeadlocks(
  service: ServiceId | null,
  narrowed: Omit<Narrowed, 'pool'>,
  refresh: Refresh,
): UseQueryResult<DeadlocksAnswer> {
  return useTagged('/v1/deadlocks', service === null ? {} : { ...selection(service), ...narrowed }, refresh, deadlocksAnswer);
}

/** Returns one deadlock of any time: a link to it works as long as the store keeps it. */
export function useDeadlock(id: string, live: boolean): UseQueryResult<DeadlockAnswer> {
  return useTagged(`/v1/deadlocks/${encodeURIComponent(id)}`, {}, { range: { preset: '7d' }, live }, deadlockAnswer);
}
