// SPDX-License-Identifier: Apache-2.0
// Frame names come from profiled programs and can contain anything. All shown text passes through here, so that a name cannot
// hide, reorder or break the text around it.

const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function reveal(char: string): string {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `\u27e8${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
}

/** Makes control, bidi, zero-width and broken characters of a text visible. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, reveal);
}

/** Cuts a text to `max` characters, in the middle, where Java names have the least information. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = Math.ceil((max - 1) / 3);
  return `${text.slice(0, head)}\u2026${text.slice(text.length - (max - 1 - head))}`;
}

/** Returns `com.acme.Cart.total`, `libc.so.6.read`, with `:42` for a known line, as in the terminal and in collapsed text. As recorded, not made safe. */
export function frameName(cls: string, method: string, line = 0): string {
  const suffix = line > 0 ? `:${line}` : '';
  if (cls === '') return (method === '' ? '(no name)' : method) + suffix;
  return `${cls}.${method}${suffix}`;
}
