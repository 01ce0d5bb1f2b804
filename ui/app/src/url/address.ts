// SPDX-License-Identifier: Apache-2.0
// Addresses of the pages, and the parts of an address that all pages share.
import type { Narrowed, ServiceId } from '../api/types.ts';

/** The parameters that are kept from page to page. */
const SHARED = ['range', 'from', 'to', 'live'];

export const TABS = [
  ['', 'Overview'],
  ['cpu', 'CPU'],
  ['memory', 'Memory'],
  ['locks', 'Locks'],
  ['threads', 'Threads'],
  ['deadlocks', 'Deadlocks'],
  ['targets', 'Targets'],
] as const;
export type Tab = (typeof TABS)[number][0];

/** A path segment cannot be empty; a JVM outside Kubernetes has no namespace. */
const NO_NAMESPACE = '-';

function shared(search: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...search].filter(([key]) => SHARED.includes(key)));
}

function withSearch(path: string, search: URLSearchParams): string {
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Returns the address of a page that all services share: `/services`, `/targets`, `/deadlocks`. */
export function pageAddress(path: string, search: URLSearchParams): string {
  return withSearch(path, shared(search));
}

/** Returns the path of the page and, below /v1, of the answer. */
export function servicePath({ namespace, workload }: ServiceId, tab: string): string {
  const path = `/services/${encodeURIComponent(namespace === '' ? NO_NAMESPACE : namespace)}/${encodeURIComponent(workload)}`;
  return tab === '' ? path : `${path}/${tab}`;
}

function withCluster(service: ServiceId, search: URLSearchParams): URLSearchParams {
  if (service.cluster !== null && service.cluster !== '') search.set('cluster', service.cluster);
  return search;
}

export function serviceAddress(service: ServiceId, search: URLSearchParams, tab: Tab = ''): string {
  return withSearch(servicePath(service, tab), withCluster(service, shared(search)));
}

function narrowedSearch(service: ServiceId, search: URLSearchParams): URLSearchParams {
  const next = shared(search);
  for (const [key, value] of Object.entries(narrowedOf(search))) if (value !== null) next.set(key, value);
  return withCluster(service, next);
}

/** Returns the address of another page of the service. It keeps the filters, and sets `change`. */
export function tabAddress(service: ServiceId, search: URLSearchParams, tab: Tab, change: Record<string, string> = {}): string {
  const next = narrowedSearch(service, search);
  for (const [key, value] of Object.entries(change)) next.set(key, value);
  if ('from' in change) next.delete('range');
  return withSearch(servicePath(service, tab), next);
}

/** Returns the address of the stacks of one thread over time. */
export function threadAddress(service: ServiceId, search: URLSearchParams, thread: { jvm: string; java_tid: number }): string {
  const path = `${servicePath(service, 'threads')}/${encodeURIComponent(thread.jvm)}/${thread.java_tid}`;
  return withSearch(path, narrowedSearch(service, search));
}

export function deadlockAddress(id: string, search: URLSearchParams): string {
  return withSearch(`/deadlocks/${encodeURIComponent(id)}`, shared(search));
}

/** Returns the parameters that are kept between the pages of one service. */
export function narrowedOf(search: URLSearchParams): Narrowed {
  return {
    pod: search.get('pod'),
    container: search.get('container'),
    jvm: search.get('jvm'),
    version: search.get('version'),
    pool: search.get('pool'),
  };
}

export function namespaceOfSegment(segment: string): string {
  return segment === NO_NAMESPACE ? '' : segment;
}

export function loginAddress(from: string): string {
  return from === '/' || from.startsWith('/login') ? '/login' : `/login?next=${encodeURIComponent(from)}`;
}

/** Returns the path to open after login, which is always of this site, whatever the address says. */
export function nextAfterLogin(search: URLSearchParams): string {
  const next = search.get('next') ?? '';
  return /^\/(?![/\\])/.test(next) ? next : '/services';
}

/** Returns the one-time code of `#code=...`, or null. */
export function codeOfFragment(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, '')).get('code');
}
