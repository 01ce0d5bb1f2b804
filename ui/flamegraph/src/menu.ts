// SPDX-License-Identifier: Apache-2.0
// The menu of a box. A popover: the browser closes it on Escape and on a click beside it.
import { buttonOf, element, on, uniqueId } from './dom.ts';

export interface MenuItem {
  label: string;
  key: string;
  action: () => void;
}

export class Menu {
  readonly element = element('div', { class: 'hsf-menu', role: 'menu', popover: 'auto', id: uniqueId('menu'), testId: 'menu' });

  /** `back` gets the focus when the menu closes. */
  constructor(back: () => void) {
    on(this.element, 'keydown', (event) => this.key(event));
    on(this.element, 'toggle', (event) => {
      if ((event as ToggleEvent).newState === 'closed' && this.element.contains(document.activeElement)) back();
    });
  }

  show(title: string, items: MenuItem[], x: number, y: number): void {
    const buttons = items.map(({ label, key, action }) => {
      const button = buttonOf({ role: 'menuitem', tabindex: -1 }, label, element('kbd', {}, key));
      on(button, 'click', () => {
        this.element.hidePopover();
        action();
      });
      return button;
    });
    this.element.setAttribute('aria-label', title);
    this.element.replaceChildren(element('bdi', { dir: 'ltr', class: 'hsf-menu-title' }, title), ...buttons);
    this.element.showPopover();
    const { offsetWidth, offsetHeight, style } = this.element;
    style.left = `${Math.max(4, Math.min(x, innerWidth - offsetWidth - 4))}px`;
    style.top = `${Math.max(4, Math.min(y, innerHeight - offsetHeight - 4))}px`;
    buttons[0]!.focus();
  }

  private key(event: KeyboardEvent): void {
    const buttons = [...this.element.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const last = buttons.length - 1;
    const next = new Map([['ArrowDown', at + 1], ['ArrowUp', at + last], ['Home', 0], ['End', last]]).get(event.key);
    if (next !== undefined) buttons[next % buttons.length]!.focus();
    else if (event.key === 'Tab') this.element.hidePopover();
    else {
      const chosen = buttons.find((button) => button.lastChild!.textContent === event.key);
      if (chosen === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      chosen.click();
    }
    event.preventDefault();
  }
}
