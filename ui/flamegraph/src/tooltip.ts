// The box beside the mouse. Shown in the top layer's place by fixed position; moved, not rebuilt, while it follows.
import { element } from './dom.ts';
import { shorten } from './text.ts';
import type { Description } from './describe.ts';

const MAX_TITLE = 600;
const DISTANCE = 14;

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
    const { offsetWidth, offsetHeight, style } = this.element;
    const right = x + DISTANCE + offsetWidth > innerWidth;
    const below = y + DISTANCE + offsetHeight > innerHeight;
    style.left = `${Math.max(4, right ? x - DISTANCE - offsetWidth : x + DISTANCE)}px`;
    style.top = `${Math.max(4, below ? y - DISTANCE - offsetHeight : y + DISTANCE)}px`;
  }
}
