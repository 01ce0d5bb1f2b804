// SPDX-License-Identifier: Apache-2.0
// The box beside the mouse. It has a fixed position above the page, and is moved, not rebuilt, while it follows the mouse.
import { element } from './dom.ts';
import { shorten } from './text.ts';
import type { Description } from './describe.ts';

const MAX_TITLE = 600;
const DISTANCE = 14;

/**
 * Behind `at` or, where there is no room for that, before it. The browser works it out while it lays out: asked how large the box is, it
 * would have to lay the page out at once. 100 % is the box's own size.
 */
function beside(at: number, room: string): string {
  const behind = `${at + DISTANCE}px`;
  return `max(4px,${behind} - clamp(0px,(${behind} + 100% - ${room})*9999,100% + ${2 * DISTANCE}px))`;
}

export class Tooltip {
  readonly element = element('div', { class: 'hsf-tip', role: 'tooltip', testId: 'tooltip', hidden: true });
  private shown: Description | null = null;

  show(description: Description, x: number, y: number): void {
    if (!this.sameAs(description)) {
      this.shown = description;
      const list = element('dl');
      for (const [name, value] of description.rows) list.append(element('dt', {}, name), element('dd', {}, value));
      const title = element('div', { class: 'hsf-tip-title', dir: 'ltr' }, shorten(description.title, MAX_TITLE));
      this.element.replaceChildren(title, list);
    }
    this.element.hidden = false;
    this.place(x, y);
  }

  hide(): void {
    this.element.hidden = true;
  }

  private sameAs(other: Description): boolean {
    return this.shown !== null && JSON.stringify(this.shown) === JSON.stringify(other);
  }

  private place(x: number, y: number): void {
    this.element.style.translate = `${beside(x, '100vw')} ${beside(y, '100vh')}`;
  }
}
