// SPDX-License-Identifier: Apache-2.0
// Calls the backend: same origin, session cookie, errors with a stable code, tags for polling.

export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** With code `expired`: the first time that is still kept. */
  readonly oldest: string | undefined;

  constructor(status: number, code: string, message: string, oldest?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.oldest = oldest;
  }

  /** Whether the same call may succeed a moment later. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status === 503;
  }
}

/** An answer and the tag under which the server knows its content. */
export interface Tagged<T> {
  value: T;
  tag: string | null;
}

export type Parameters = Record<string, string | number | null | undefined>;

/** Leaves out parameters that are not set, but sends empty ones: outside Kubernetes a namespace is empty. */
export function queryString(parameters: Parameters): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) search.set(key, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

async function call(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: 'same-origin', cache: 'no-store', ...init });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiError(0, 'unreachable', 'The backend does not answer. It may be restarting, or the network is down.');
  }
  if (response.status >= 400) throw await errorOf(response);
  return response;
}

async function errorOf(response: Response): Promise<ApiError> {
  const fallback = `The backend answered ${response.status} ${response.statusText}.`;
  try {
    const { error } = (await response.json()) as { error?: { code?: unknown; message?: unknown; oldest?: unknown } };
    const code = typeof error?.code === 'string' ? error.code : 'unknown';
    const message = typeof error?.message === 'string' ? error.message : fallback;
    return new ApiError(response.status, code, message, typeof error?.oldest === 'string' ? error.oldest : undefined);
  } catch {
    return new ApiError(response.status, response.status === 401 ? 'unauthenticated' : 'unknown', fallback);
  }
}

/**
 * GET, decoded. With the previous answer at hand the server is asked only for what is new: an unchanged answer comes back as the
 * very same object, so nothing is parsed or drawn again.
 */
export async function getTagged<T>(
  path: string,
  previous: Tagged<T> | undefined,
  decode: (json: unknown) => T,
  signal: AbortSignal,
): Promise<Tagged<T>> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (previous?.tag != null) headers['If-None-Match'] = previous.tag;
  const response = await call(path, { headers, signal });
  if (response.status === 304 && previous !== undefined) return previous;
  let value: T;
  try {
    value = decode(await response.json());
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiError(response.status, 'bad_answer', `The backend's answer cannot be read: ${(error as Error).message}`);
  }
  return { value, tag: response.headers.get('ETag') };
}

/** Opens a session with a token or a one-time code. Throws ApiError. */
export async function logIn(secret: { token: string } | { code: string }): Promise<void> {
  await call('/v1/session', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(secret) });
}

/** Returns whether this browser already has a session. */
export async function hasSession(): Promise<boolean> {
  return call('/v1/services?limit=1', {}).then(
    () => true,
    () => false,
  );
}

export async function logOut(): Promise<void> {
  await call('/v1/session', { method: 'DELETE' });
}
