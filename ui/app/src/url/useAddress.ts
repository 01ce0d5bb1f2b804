// SPDX-License-Identifier: Apache-2.0
import { useCallback, useMemo } from 'react';
import { useSearchParams } from 'react-router';
import type { Refresh } from '../api/queries.ts';
import { parseRange, writeRange, type TimeRange } from './range.ts';

/** Reads and changes the page's address. Filters are kept nowhere else. */
export interface Address {
  search: URLSearchParams;
  refresh: Refresh;
  setRange(range: TimeRange): void;
  setLive(live: boolean): void;
  get(key: string, fallback: string): string;
  /** Sets a parameter; the fallback value is left out of the address. `replace` = no new entry in the history. */
  set(key: string, value: string, fallback: string, replace?: boolean): void;
  /** Sets parameters whose empty value means something; null removes one. */
  narrow(change: Record<string, string | null>): void;
}

export function useAddress(): Address {
  const [search, setSearch] = useSearchParams();
  const change = useCallback(
    (apply: (next: URLSearchParams) => void, replace = false) =>
      setSearch(
        (current) => {
          const next = new URLSearchParams(current);
          apply(next);
          return next;
        },
        { replace, preventScrollReset: true },
      ),
    [setSearch],
  );
  return useMemo(
    () => ({
      search,
      refresh: { range: parseRange(search), live: search.get('live') !== 'off' },
      setRange: (range) => change((next) => writeRange(next, range)),
      setLive: (live) => change((next) => (live ? next.delete('live') : next.set('live', 'off')), true),
      get: (key, fallback) => search.get(key) ?? fallback,
      narrow: (values) =>
        change((next) => {
          for (const [key, value] of Object.entries(values))
            if (value === null) next.delete(key);
            else next.set(key, value);
        }),
      set: (key, value, fallback, replace) => change((next) => (value === fallback ? next.delete(key) : next.set(key, value)), replace),
    }),
    [search, change],
  );
}
