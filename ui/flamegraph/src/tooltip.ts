// The box beside the mouse. Shown in the top layer's place by fixed position; moved, not rebuilt, while it follows.
import { element } from './dom.ts';
import { shorten } from './text.ts';
import type { Description } from './describe.ts';

const MAX_TITLE = 600;
const DISTANCE = 14;

export class Tooltip {
  readonly element = element('div', { class: 'hsf-tip', role: 'tooltip', testId: 'tooltip', hidden: true });
  private shown: Description | null = null;
  private width = 0;
  private height = 0;

  show(description: Description, x: number, y: number): void {
    this.element.hidden = false;
    if (!this.sameAs(description)) {
      this.shown = description;
      const list = element('dl');
      for (const [name, value] of description.rows) list.append(element('dt', {}, name), element('dd', {}, value));
      const title = element('div', { class: 'hsf-tip-title', dir: 'ltr' }, shorten(description.title, MAX_TITLE));
      this.element.replaceChildren(title, list);
      // Asked for once: it makes the browser lay the page out.
      this.width = this.element.offsetWidth;
      this.height = this.element.offsetHeight;
    }
    this.place(x, y);
  }

  hide(): void {
    this.element.hidden = true;
  }

  private sameAs(other: Description): boolean {
    return this.shown !== null && JSON.stringify(this.shown) === JSON.stringify(other);
  }

  private place(x: number, y: number): void {
    const { width, height } = this;
    const right = x + DISTANCE + width > innerWidth;
    const below = y + DISTANCE + height > innerHeight;
    const left = Math.max(4, right ? x - DISTANCE - width : x + DISTANCE);
    this.element.style.translate = `${left}px ${Math.max(4, below ? y - DISTANCE - height : y + DISTANCE)}px`;
  }
}
