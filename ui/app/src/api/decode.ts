// SPDX-License-Identifier: Apache-2.0
// Checks an answer's shape at the border, so that pages can rely on the types. An error names the place: `busy[3].cpu_ns`.

export type Decoder<T> = (json: unknown, at: string) => T;
export type Decoded<D> = D extends Decoder<infer T> ? T : never;

function refuse(at: string, wanted: string): never {
  throw new Error(`"${at}" is not ${wanted}`);
}

export const text: Decoder<string> = (json, at) => (typeof json === 'string' ? json : refuse(at, 'a text'));

export const flag: Decoder<boolean> = (json, at) => (typeof json === 'boolean' ? json : refuse(at, 'true or false'));

/** A number, or a decimal string as large sums are written. */
export const amount: Decoder<number> = (json, at) => {
  if (typeof json === 'number' && Number.isFinite(json)) return json;
  return typeof json === 'string' && /^-?\d{1,40}$/.test(json) ? Number(json) : refuse(at, 'a number');
};

/** RFC 3339, kept as text. */
export const time: Decoder<string> = (json, at) =>
  typeof json === 'string' && !Number.isNaN(Date.parse(json)) ? json : refuse(at, 'a time');

export function orNull<T>(decode: Decoder<T>): Decoder<T | null> {
  return (json, at) => (json === null || json === undefined ? null : decode(json, at));
}

/** Decodes a key that can be missing; `absent` is the value of a missing key. */
export function or<T>(decode: Decoder<T>, absent: T): Decoder<T> {
  return (json, at) => (json === undefined ? absent : decode(json, at));
}

export function list<T>(decode: Decoder<T>): Decoder<T[]> {
  return (json, at) => (Array.isArray(json) ? json.map((entry, index) => decode(entry, `${at}[${index}]`)) : refuse(at, 'a list'));
}

/** Keys that are not named are left out of the result. */
export function record<T extends Record<string, unknown>>(fields: { [K in keyof T]: Decoder<T[K]> }): Decoder<T> {
  const entries = Object.entries(fields) as [string, Decoder<unknown>][];
  return (json, at) => {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) refuse(at, 'an object');
    const from = json as Record<string, unknown>;
    const place = at === '' ? '' : `${at}.`;
    return Object.fromEntries(entries.map(([key, decode]) => [key, decode(from[key], place + key)])) as T;
  };
}
