// SPDX-License-Identifier: Apache-2.0
// Builds DOM without markup strings, so that no text of a document can become an element.

type Attributes = Record<string, string | number | boolean | undefined>;

/**
 * Makes an element with attributes and children. Attributes: `true` = present, `false` and undefined = absent, but aria-* are written out.
 * testId is data-testid. Strings become text nodes.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const result = document.createElement(name);
  for (const [name, value] of Object.entries(attributes)) {
    const key = name === 'testId' ? 'data-testid' : name;
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

export function buttonOf(attributes: Attributes, ...children: (Node | string)[]): HTMLButtonElement {
  return element('button', { type: 'button', ...attributes }, ...children);
}

/** Makes a button of a tool bar; `title` is its name, followed by its key in parentheses. */
export function tool(text: string, title: string, action: () => void): HTMLButtonElement {
  const result = buttonOf({ class: 'hsf-button', title, 'aria-label': title.replace(/ \(.*/, '') }, text);
  on(result, 'click', action);
  return result;
}

/** Sets whether a toggle button is pressed. */
export function press(target: HTMLElement, isDown: boolean): void {
  target.setAttribute('aria-pressed', String(isDown));
}

/** Makes the help that '?' opens; each line of `keys` is a key, '|', and its effect. */
export function helpOn(title: string, keys: string): HTMLElement {
  const list = keys.split('\n').flatMap((line) => line.split('|').map((part, i) => element(i === 0 ? 'dt' : 'dd', {}, part)));
  return element('div', { class: 'hsf-help', popover: 'auto', id: uniqueId('help') }, element('strong', {}, title), element('dl', {}, ...list));
}

let lastId = 0;

/** Returns an id that no other part of the page uses. */
export function uniqueId(prefix: string): string {
  return `hsf-${prefix}-${++lastId}`;
}
