// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiError, getTagged, logIn, queryString } from '../src/api/client.ts';

const signal = new AbortController().signal;
const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  vi.fn(async (_path: string, _init?: RequestInit) => new Response(body === null ? null : JSON.stringify(body), { status, headers }));

function stub(fetch: ReturnType<typeof answer>) {
  vi.stubGlobal('fetch', fetch);
  return fetch;
}

const get = (previous?: { value: unknown; tag: string | null }) => getTagged('/v1/x', previous, (json) => json, signal);

afterEach(() => vi.unstubAllGlobals());

async function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

describe('getTagged', () => {
  it('keeps the tag, and sends it with the next call', async () => {
    const fetch = stub(answer(200, { a: 1 }, { ETag: '"t1"' }));
    const first = await get();
    expect(first).toEqual({ value: { a: 1 }, tag: '"t1"' });
    await get(first);
    expect(fetch.mock.calls[1]![1]!.headers).toMatchObject({ 'If-None-Match': '"t1"' });
  });

  it('gives back the very same object when nothing changed', async () => {
    stub(answer(304, null));
    const previous = { value: { a: 1 }, tag: '"t1"' };
    expect(await get(previous)).toBe(previous);
  });

  it('carries the code and the words of an error', async () => {
    stub(answer(410, { error: { code: 'expired', message: 'Too old.', oldest: '2026-01-01T00:00:00.000Z' } }));
    const error = await failureOf(get());
    expect(error).toMatchObject({ status: 410, code: 'expired', message: 'Too old.', oldest: '2026-01-01T00:00:00.000Z' });
    expect(error.isPassing).toBe(false);
  });

  it('understands an error without a body', async () => {
    stub(answer(401, null));
    expect(await failureOf(get())).toMatchObject({ status: 401, code: 'unauthenticated' });
  });

  it('calls an answer that makes no sense by its name', async () => {
    stub(answer(200, {}));
    const decode = () => {
      throw new Error('"rows" is not a list');
    };
    const error = await failureOf(getTagged('/v1/top', undefined, decode, signal));
    expect(error).toMatchObject({ code: 'bad_answer', message: 'The backend\'s answer cannot be read: "rows" is not a list' });
  });

  it('says that nobody answers', async () => {
    vi.stubGlobal('fetch', async () => {
      throw new TypeError('Failed to fetch');
    });
    const error = await failureOf(get());
    expect(error).toMatchObject({ code: 'unreachable', isPassing: true });
  });
});

describe('logIn', () => {
  it('sends the secret in the body, never in the address', async () => {
    const fetch = stub(answer(204, null));
    await logIn({ token: 's3cret' });
    const [path, init] = fetch.mock.calls[0]!;
    expect(path).toBe('/v1/session');
    expect(init).toMatchObject({ method: 'POST', body: '{"token":"s3cret"}' });
  });
});

describe('queryString', () => {
  it('leaves out what is not set and encodes the rest', () => {
    expect(queryString({ cluster: null, namespace: 'a&b', from: 5 })).toBe('?namespace=a%26b&from=5');
    expect(queryString({ namespace: '', type: undefined })).toBe('?namespace=');
    expect(queryString({})).toBe('');
  });
});
