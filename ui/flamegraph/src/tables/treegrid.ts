// SPDX-License-Identifier: Apache-2.0
// Shows the same tree as a table, for screen readers and for reading figures. Table and graph follow the same active box.
import { changeOf, formatPoints } from '../describe.ts';
import { element, on } from '../dom.ts';
import { formatPercent, formatValue } from '../format.ts';
import { KINDS } from '../document/frames.ts';
import type { Profile } from '../document/profile.ts';
import { shorten } from '../text.ts';

/** Children shown under one row; the rest is summed up in a last row. */
const MAX_CHILDREN = 100;
const MAX_ROWS = 1000;
const MAX_NAME = 300;
const TEXT_COLUMNS = new Set(['Frame', 'Kind']);
const COLUMNS = ['Frame', 'Total', '%', 'Self', 'Kind'];
/** The columns of a comparison, where a box's width is the mean of both sides. */
const SIDE_COLUMNS = ['Frame', 'Before', 'Self', 'After', 'Self', 'Change', 'Kind'];

/** A box with its place among its shown siblings. */
interface Row {
  box: number;
  position: number;
  size: number;
}

export interface TreeGridListener {
  onSelect(box: number): void;
  onOpen(box: number): void;
}

export class TreeGrid {
  readonly element: HTMLElement;
  private readonly head = element('thead');
  private readonly body = element('tbody');
  private readonly listener: TreeGridListener;
  private profile: Profile | null = null;
  private expanded = new Set<number>([0]);
  private rows: Row[] = [];
  private active = 0;

  constructor(label: string, listener: TreeGridListener) {
    this.listener = listener;
    const table = element('table', { role: 'treegrid', 'aria-label': label, class: 'hsf-table' }, this.head, this.body);
    this.element = element('div', { class: 'hsf-panel', testId: 'tree-table', hidden: true }, table);
    on(this.body, 'keydown', (event) => this.key(event));
    on(this.body, 'click', (event) => this.click(event));
    on(this.body, 'dblclick', () => this.listener.onOpen(this.active));
  }

  get isShown(): boolean {
    return !this.element.hidden;
  }

  setShown(shown: boolean): void {
    this.element.hidden = !shown;
    if (shown) this.render();
  }

  setProfile(profile: Profile): void {
    const old = this.profile;
    this.profile = profile;
    const again = (box: number) => (old === null ? 0 : profile.findPath(old.pathOf(box)));
    this.expanded = new Set([...this.expanded].map(again));
    this.expanded.add(0);
    this.active = again(this.active);
    if (this.isShown) this.render();
  }

  /** Makes the box's row current and, with `reveal`, visible. The focus stays where it is. */
  select(box: number, reveal: boolean): void {
    this.active = box;
    if (!this.isShown) return;
    this.render();
    if (reveal) this.revealCurrent();
  }

  /** Scrolls the panel and nothing around it. */
  private revealCurrent(): void {
    const row = this.currentRow();
    if (row === null) return;
    const panel = this.element;
    const top = row.offsetTop - row.offsetHeight - 8;
    const bottom = row.offsetTop + row.offsetHeight;
    if (top < panel.scrollTop) panel.scrollTop = top;
    else if (bottom > panel.scrollTop + panel.clientHeight) panel.scrollTop = bottom - panel.clientHeight;
  }

  private render(): void {
    const { profile } = this;
    if (profile === null) return;
    for (const ancestor of profile.ancestry(this.active).slice(0, -1)) this.expanded.add(ancestor);
    this.rows = this.visibleRows(profile);
    if (!this.rows.some(({ box }) => box === this.active)) {
      // More rows are open than a table can have, so close all except those above the current row.
      this.expanded = new Set(profile.ancestry(this.active).slice(0, -1));
      this.rows = this.visibleRows(profile);
    }
    const hadFocus = this.body.contains(document.activeElement);
    const columns = profile.sides !== null ? SIDE_COLUMNS : COLUMNS;
    this.head.replaceChildren(element('tr', {}, ...columns.map((name) => element('th', { scope: 'col', class: TEXT_COLUMNS.has(name) ? undefined : 'hsf-number' }, name))));
    this.body.replaceChildren(...this.rows.map((row) => this.row(profile, row)));
    if (hadFocus) this.currentRow()?.focus({ preventScroll: true });
  }

  private visibleRows(profile: Profile): Row[] {
    const rows: Row[] = [];
    const onPath = new Set(profile.ancestry(this.active));
    const pending: Row[] = [{ box: 0, position: 1, size: 1 }];
    while (pending.length > 0 && rows.length < MAX_ROWS) {
      const row = pending.pop()!;
      rows.push(row);
      if (!this.expanded.has(row.box)) continue;
      const children = this.shownChildren(profile, row.box, onPath);
      children.forEach((box, i) => pending.push({ box, position: children.length - i, size: children.length }));
    }
    return rows;
  }

  /** Returns the shown children, lightest first, for a stack. The active branch is always among them. */
  private shownChildren(profile: Profile, box: number, onPath: Set<number>): number[] {
    const children = profile.children(box).sort((a, b) => profile.total[b]! - profile.total[a]!);
    return children.filter((child, i) => i < MAX_CHILDREN || onPath.has(child)).reverse();
  }

  private row(profile: Profile, { box, position, size }: Row): HTMLElement {
    const hasChildren = profile.children(box).length > 0;
    const isActive = box === this.active;
    const name = element(
      'td',
      { role: 'gridcell', class: 'hsf-name' },
      element('span', { class: 'hsf-twist', 'aria-hidden': true }, hasChildren ? (this.expanded.has(box) ? '\u25be' : '\u25b8') : ''),
      element('bdi', { dir: 'ltr' }, shorten(profile.label(box), MAX_NAME)),
    );
    name.style.setProperty('--level', String(Math.min(profile.depth[box]!, 60)));
    const number = (text: string) => element('td', { role: 'gridcell', class: 'hsf-number' }, text);
    return element(
      'tr',
      {
        role: 'row',
        'data-box': box,
        tabindex: isActive ? 0 : -1,
        'aria-level': profile.depth[box]! + 1,
        'aria-posinset': position,
        'aria-setsize': size,
        'aria-selected': isActive,
        'aria-expanded': hasChildren ? this.expanded.has(box) : undefined,
      },
      name,
      ...this.figures(profile, box).map(number),
      element('td', { role: 'gridcell' }, profile.frame[box]! < 0 ? '' : KINDS[profile.kind(box)]!),
    );
  }

  /** Returns the figures between the frame and its kind. An omitted block has no self. */
  private figures(profile: Profile, box: number): string[] {
    const { total, self, sides, unit } = profile;
    const own = (values: Float64Array) => (profile.isOmitted(box) ? '' : formatValue(values[box]!, unit));
    if (sides === null) return [formatValue(total[box]!, unit), formatPercent(total[box]!, total[0]!), own(self)];
    const side = (values: Float64Array) => formatValue(values[box]!, unit);
    return [side(sides.before), own(sides.beforeSelf), side(sides.after), own(sides.afterSelf), formatPoints(changeOf(sides, box))];
  }

  private currentRow(): HTMLElement | null {
    return this.body.querySelector('[aria-selected="true"]');
  }

  private toggle(box: number, open: boolean): void {
    if (open) this.expanded.add(box);
    else this.expanded.delete(box);
    this.render();
  }

  private click(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>('[data-box]');
    if (row === null) return;
    const box = Number(row.dataset['box']);
    if ((event.target as Element).closest('.hsf-twist') !== null) this.toggle(box, !this.expanded.has(box));
    this.go(box);
  }

  private go(box: number | undefined): void {
    if (box === undefined) return;
    this.listener.onSelect(box);
    this.currentRow()?.focus({ preventScroll: true });
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || this.profile === null) return;
    const at = this.rows.findIndex(({ box }) => box === this.active);
    const isOpen = this.expanded.has(this.active);
    switch (event.key) {
      case 'ArrowDown':
        this.go(this.rows[at + 1]?.box);
        break;
      case 'ArrowUp':
        this.go(this.rows[at - 1]?.box);
        break;
      case 'ArrowRight':
        if (!isOpen) this.toggle(this.active, true);
        else this.go(this.rows[at + 1]?.box);
        break;
      case 'ArrowLeft':
        if (isOpen && this.active !== 0) this.toggle(this.active, false);
        else this.go(this.profile.parent[this.active]! < 0 ? undefined : this.profile.parent[this.active]);
        break;
      case 'Home':
        this.go(this.rows[0]?.box);
        break;
      case 'End':
        this.go(this.rows[this.rows.length - 1]?.box);
        break;
      case 'Enter':
        this.listener.onOpen(this.active);
        break;
      default:
        return;
    }
    event.preventDefault();
  }
}
