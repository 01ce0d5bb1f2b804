// SPDX-License-Identifier: Apache-2.0
import { ApiError } from '../api/client.ts';
import { visibleText } from '@hotstack/flamegraph';
import { formatTime } from '../url/range.ts';
import { Notice } from './Notice.tsx';

interface Explanation {
  title: string;
  help: string;
}

const EXPLANATIONS: Record<string, Explanation> = {
  query_timeout: {
    title: 'The query timed out',
    help: 'It ran past its budget and has nothing to show. Choose a shorter time range; the data itself is not lost.',
  },
  expired: { title: 'Expired by retention', help: 'All of this time range is older than what the store keeps. Choose a later one.' },
  forbidden_scope: {
    title: 'Outside your scope',
    help: 'Your token does not cover this namespace or workload. Ask whoever runs Hotstack for a wider scope.',
  },
  unauthenticated: { title: 'Not logged in', help: 'The session has ended. Log in again.' },
  not_found: {
    title: 'Not found',
    help: 'Nothing by this name was seen in the time that the store keeps. Start from the list of services.',
  },
  store_unavailable: { title: 'The store is down', help: 'Collectors keep their data meanwhile. This page tries again by itself.' },
  unreachable: { title: 'The backend does not answer', help: 'This page tries again by itself.' },
  rate_limited: { title: 'Too many requests', help: 'This page waits and tries again by itself.' },
  bad_request: {
    title: 'The backend refused the request',
    help: 'The address may have been changed by hand. Start from the list of services.',
  },
};

/** Shows each failure with its own name, and the backend's words below ours. */
export function ErrorNotice({ error }: { error: Error }) {
  const code = error instanceof ApiError ? error.code : 'unknown';
  const { title, help } = EXPLANATIONS[code] ?? {
    title: 'This could not be loaded',
    help: 'Load the page again. If that does not help, see the log of the backend.',
  };
  const oldest = error instanceof ApiError ? error.oldest : undefined;
  return (
    <Notice title={title} tone={code === 'expired' || code === 'forbidden_scope' ? 'warn' : 'bad'} testId={`error-${code}`}>
      {help} {oldest !== undefined && `The oldest data is from ${formatTime(oldest)}. `}
      {visibleText(error.message)}
    </Notice>
  );
}

/** Says above content that is still valid that the last refresh failed. */
export function StaleNotice({ error, since }: { error: Error; since: number }) {
  return (
    <Notice title={`Not refreshed since ${formatTime(since)}`} tone="warn" testId="stale">
      {visibleText(error.message)}
    </Notice>
  );
}
