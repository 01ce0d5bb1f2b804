// SPDX-License-Identifier: Apache-2.0
// Top table of a page without a server.
import { formatPoints } from '../describe.ts';
import { buttonOf, element, on } from '../dom.ts';
import { formatPercent, formatValue } from '../format.ts';
import { KINDS } from '../document/frames.ts';
import type { Change, Profile } from '../document/profile.ts';
import { shorten } from '../text.ts';
import { topFrames } from '../lens/top.ts';

const LIMIT = 200;
const MAX_NAME = 300;
/** Shares of a document's changes are parts per billion. */
const BILLION = 1e9;
const TEXT_COLUMNS = new Set(['Frame', 'Kind']);

export class TopTable {
  readonly element: HTMLElement;
  private readonly head = element('thead');
  private readonly body = element('tbody');
  private readonly onPick: (label: string) => void;
  private profile: Profile | null = null;
  private changes: Change[] = [];

  /** `onPick` gets the label of the frame that the user chose. */
  constructor(onPick: (label: string) => void) {
    this.onPick = onPick;
    const table = element('table', { class: 'hsf-table', testId: 'top-table' }, this.head, this.body);
    this.element = element('div', { class: 'hsf-panel', hidden: true }, table);
  }

  setShown(shown: boolean): void {
    this.element.hidden = !shown;
    if (shown) this.render();
  }

  /** Sets the changes of methods in a comparison, greatest first. */
  setChanges(changes: Change[]): void {
    this.changes = changes;
  }

  setProfile(profile: Profile): void {
    this.profile = profile;
    if (!this.element.hidden) this.render();
  }

  private render(): void {
    const { profile } = this;
    if (profile === null) return;
    const isComparison = profile.sides !== null;
    const columns = isComparison ? ['Self: change', 'before', 'after', 'sure to 99 %', 'Frame', 'Kind'] : ['Self', '%', 'Total', '%', 'Frame', 'Kind'];
    const cells = columns.map((name) => element('th', { scope: 'col', class: TEXT_COLUMNS.has(name) ? undefined : 'hsf-number' }, name));
    this.head.replaceChildren(element('tr', {}, ...cells));
    this.body.replaceChildren(...(isComparison ? this.changeRows(profile) : this.topRows(profile)));
  }

  private row(profile: Profile, frame: number, figures: string[]): HTMLElement {
    const label = profile.frames.label(frame);
    const pick = buttonOf({ class: 'hsf-link', title: 'Find in the graph' });
    pick.append(element('bdi', { dir: 'ltr' }, shorten(label, MAX_NAME)));
    on(pick, 'click', () => this.onPick(label));
    const numbers = figures.map((text) => element('td', { class: 'hsf-number' }, text));
    return element('tr', {}, ...numbers, element('td', { class: 'hsf-name' }, pick), element('td', {}, KINDS[profile.frames.kind(frame)]!));
  }

  private topRows(profile: Profile): HTMLElement[] {
    const whole = profile.total[0]!;
    return topFrames(profile, LIMIT).map(({ frame, self, total }) =>
      this.row(profile, frame, [formatValue(self, profile.unit), formatPercent(self, whole), formatValue(total, profile.unit), formatPercent(total, whole)]),
    );
  }

  private changeRows(profile: Profile): HTMLElement[] {
    return this.changes.slice(0, LIMIT).map(({ frame, before, after, low, high }) => {
      const interval = low === null || high === null ? '' : `${formatPoints(low / BILLION)} to ${formatPoints(high / BILLION)}`;
      return this.row(profile, frame, [formatPoints((after - before) / BILLION), formatPercent(before, BILLION), formatPercent(after, BILLION), interval]);
    });
  }
}
