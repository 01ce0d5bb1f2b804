// Top table of a page without a server.
import { element } from './dom.ts';
import { formatPercent, formatValue } from './format.ts';
import { KINDS, type Profile } from './profile.ts';
import { shorten } from './text.ts';
import { topFrames } from './top.ts';

const LIMIT = 200;
const MAX_NAME = 300;
const TEXT_COLUMNS = new Set(['Frame', 'Kind']);

export class TopTable {
  readonly element: HTMLElement;
  private readonly body = element('tbody');
  private readonly onPick: (label: string) => void;
  private profile: Profile | null = null;

  /** `onPick` gets the label of the frame that the user chose. */
  constructor(onPick: (label: string) => void) {
    this.onPick = onPick;
    const head = element('tr', {}, ...['Self', '%', 'Total', '%', 'Frame', 'Kind'].map((name) => element('th', { scope: 'col', class: TEXT_COLUMNS.has(name) ? undefined : 'hsf-number' }, name)));
    const table = element('table', { class: 'hsf-table', 'data-testid': 'top-table' }, element('thead', {}, head), this.body);
    this.element = element('div', { class: 'hsf-panel', hidden: true }, table);
  }

  setShown(shown: boolean): void {
    this.element.hidden = !shown;
    if (shown) this.render();
  }

  setProfile(profile: Profile): void {
    this.profile = profile;
    if (!this.element.hidden) this.render();
  }

  private render(): void {
    const { profile } = this;
    if (profile === null) return;
    const whole = profile.total[0]!;
    const number = (text: string) => element('td', { class: 'hsf-number' }, text);
    const rows = topFrames(profile, LIMIT).map(({ frame, self, total }) => {
      const label = profile.frameLabel(frame);
      const pick = element('button', { type: 'button', class: 'hsf-link', title: 'Find in the graph' });
      pick.append(element('bdi', { dir: 'ltr' }, shorten(label, MAX_NAME)));
      pick.addEventListener('click', () => this.onPick(label));
      return element(
        'tr',
        {},
        number(formatValue(self, profile.unit)),
        number(formatPercent(self, whole)),
        number(formatValue(total, profile.unit)),
        number(formatPercent(total, whole)),
        element('td', { class: 'hsf-name' }, pick),
        element('td', {}, KINDS[profile.frameKind(frame)]!),
      );
    });
    this.body.replaceChildren(...rows);
  }
}
