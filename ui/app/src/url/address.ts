// SPDX-License-Identifier: Apache-2.0
// Addresses of the pages, and the parts of an address that all pages share.
import type { ServiceId } from '../api/types.ts';

/** What goes along from page to page. */
const SHARED = ['range', 'from', 'to', 'live'];

/** A path segment cannot be empty; a JVM outside Kubernetes has no namespace. */
const NO_NAMESPACE = '-';

function shared(search: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...search].filter(([key]) => SHARED.includes(key)));
}

function withSearch(path: string, search: URLSearchParams): string {
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

export function servicesAddress(search: URLSearchParams): string {
  return withSearch('/services', shared(search));
}

export function serviceAddress(service: ServiceId, search: URLSearchParams): string {
  const next = shared(search);
  if (service.cluster !== null && service.cluster !== '') next.set('cluster', service.cluster);
  const namespace = service.namespace === '' ? NO_NAMESPACE : service.namespace;
  return withSearch(`/services/${encodeURIComponent(namespace)}/${encodeURIComponent(service.workload)}`, next);
}

export function namespaceOfSegment(segment: string): string {
  return segment === NO_NAMESPACE ? '' : segment;
}

export function loginAddress(from: string): string {
  return from === '/' || from.startsWith('/login') ? '/login' : `/login?next=${encodeURIComponent(from)}`;
}

/** Where to go after login: a path of this site, whatever the address says. */
export function nextAfterLogin(search: URLSearchParams): string {
  const next = search.get('next') ?? '';
  return /^\/(?![/\\])/.test(next) ? next : '/services';
}

/** The one-time code of `#code=...`, or null. */
export function codeOfFragment(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, '')).get('code');
}
