// Building DOM without markup strings: nothing a document holds can become an element.

type Attributes = Record<string, string | number | boolean | undefined>;

/**
 * An element with attributes and children. Attributes: `true` = present, `false` and undefined = absent, but aria-* are written out.
 * Strings become text nodes.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const result = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    if (typeof value !== 'boolean' || key.startsWith('aria-')) result.setAttribute(key, String(value));
    else if (value) result.setAttribute(key, '');
  }
  result.append(...children);
  return result;
}

/** Calls back on an event of an element. */
export function on<K extends keyof HTMLElementEventMap>(target: HTMLElement, name: K, listener: (event: HTMLElementEventMap[K]) => void, options?: AddEventListenerOptions): void {
  target.addEventListener(name, listener, options);
}

let lastId = 0;

/** An id that no other part of the page uses. */
export function uniqueId(prefix: string): string {
  return `hsf-${prefix}-${++lastId}`;
}
