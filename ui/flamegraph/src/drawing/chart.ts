// SPDX-License-Identifier: Apache-2.0
// The graph itself: canvas, scrolling, zoom, keyboard and mouse. Says what happens by events on `events`; draws once per frame.
import { element, on, uniqueId } from '../dom.ts';
import { describe, sentence } from '../describe.ts';
import { formatPercent } from '../format.ts';
import { currentScheme, Fills, onSchemeChange, palette } from './palette.ts';
import { Painter, ROW_HEIGHT, rowAt, rowTop, type Mode, type Scene } from './painter.ts';
import type { Profile } from '../document/profile.ts';
import { itemAt, type Item, type Span } from '../document/rows.ts';
import { Tooltip } from '../tooltip.ts';

/** A jump zooms until its box is at least this wide. */
const JUMP_WIDTH = 40;

export interface ChartListener {
  /** The box with the keyboard's focus changed; `byUser` = not because new data came. */
  onActive(box: number, byUser: boolean): void;
  onZoom(box: number): void;
  /** The values in view changed. */
  onRange(from: number, to: number): void;
  /** The menu of a box was asked for, at a place of the screen. */
  onMenu(box: number, x: number, y: number): void;
  /** The user removes a box: a click with Ctrl or Alt. */
  onRemove(box: number): void;
  onFocus(): void;
  /** A key that is not the chart's own; return true when it was used. */
  onKey(event: KeyboardEvent): boolean;
}

export class Chart {
  readonly element: HTMLElement;
  private readonly canvas = element('canvas', { 'aria-hidden': true });
  private readonly spacer = element('div', { class: 'hsf-spacer', 'aria-hidden': true });
  private readonly current = element('div', { id: uniqueId('current'), role: 'treeitem', class: 'hsf-sr' });
  private readonly hoverBox = element('div', { class: 'hsf-outline', 'aria-hidden': true, hidden: true });
  private readonly activeBox = element('div', { class: 'hsf-outline hsf-outline-active', 'aria-hidden': true, hidden: true });
  private readonly scroller: HTMLElement;
  private readonly tooltip = new Tooltip();
  private readonly painter = new Painter(this.canvas);
  private readonly stops: (() => void)[] = [];
  private readonly listener: ChartListener;
  private readonly maxHeight: number;

  private profile: Profile | null = null;
  private colors: Fills | null = null;
  private mode: Mode = 'icicle';
  private matches: Uint8Array | null = null;
  private zoomed = 0;
  private range: [number, number] = [0, 1];
  private deepest = 0;
  private active = 0;
  private hover: Item | null = null;
  /** Where the tooltip came from: the mouse's last place, or the keyboard. */
  private pointer: { clientX: number; clientY: number } | null = null;
  private keyboardTip = false;
  /** The position to which this class itself has scrolled; that scroll does not hide the tooltip. */
  private ownScroll = -1;
  private width = 0;
  private height = 0;
  /** A copy of the scroller's scrollTop, because reading it makes the browser lay out the page. */
  private scrollTop = 0;
  private frameRequest = 0;

  /** `maxHeight` in CSS pixels; 0 = as high as its place in the page. */
  constructor(label: string, maxHeight: number, testId: string, listener: ChartListener) {
    this.listener = listener;
    this.maxHeight = maxHeight;
    this.scroller = element(
      'div',
      {
        class: 'hsf-scroll',
        tabindex: 0,
        role: 'tree',
        'aria-label': label,
        'aria-activedescendant': this.current.id,
        testId: testId,
      },
      this.canvas,
      this.spacer,
      this.hoverBox,
      this.activeBox,
      this.current,
    );
    this.element = element('div', { class: maxHeight === 0 ? 'hsf-chart hsf-fill' : 'hsf-chart' }, this.scroller, this.tooltip.element);
    this.listen();
  }

  private listen(): void {
    const { scroller } = this;
    on(scroller, 'mousemove', ({ clientX, clientY }) => this.point({ clientX, clientY }));
    on(scroller, 'mouseleave', () => this.unpoint());
    on(scroller, 'click', (event) => this.click(event));
    on(scroller, 'keydown', (event) => this.key(event));
    on(scroller, 'blur', () => this.unpoint());
    on(scroller, 'focus', () => this.listener.onFocus());
    on(scroller, 'contextmenu', (event) => this.menu(event));
    on(scroller, 'wheel', (event) => this.wheel(event), { passive: false });
    on(scroller, 'scroll', () => {
      this.scrollTop = scroller.scrollTop;
      if (this.scrollTop !== this.ownScroll) this.unpoint();
      this.ownScroll = -1;
      this.repaint();
    });
    const observer = new ResizeObserver(() => this.measure());
    observer.observe(this.element);
    this.stops.push(() => observer.disconnect(), onSchemeChange(() => this.repaint()));
  }

  destroy(): void {
    for (const stop of this.stops) stop();
    cancelAnimationFrame(this.frameRequest);
    this.profile = null;
    this.element.remove();
  }

  /** Shows another profile. Zoom, focus and tooltip stay on the same path, as far as the new profile has it. */
  setProfile(profile: Profile): void {
    const old = this.profile;
    const zoomPath = old === null ? [] : old.pathOf(this.zoomed);
    const activePath = old === null ? [] : old.pathOf(this.active);
    this.profile = profile;
    this.colors = new Fills(profile);
    this.matches = null;
    this.hover = null;
    this.active = profile.findPath(activePath);
    const zoomed = profile.findPath(zoomPath);
    this.setRange(zoomed, profile.start[zoomed]!, profile.start[zoomed]! + profile.total[zoomed]!);
    if (!this.isInView(this.active)) this.active = zoomed;
    this.describeActive();
    this.outline(this.activeBox, this.active);
    this.listener.onActive(this.active, false);
    if (old === null) this.scrollToRoot();
    if (this.pointer !== null) this.point(this.pointer);
    else if (this.keyboardTip) this.showTooltipAtActive();
  }

  setMode(mode: Mode): void {
    this.mode = mode;
    this.layout();
    this.scrollToRoot();
  }

  setMatches(frames: Uint8Array | null): void {
    this.matches = frames;
    this.repaint();
  }

  focus(): void {
    this.scroller.focus({ preventScroll: true });
  }

  get shown(): Profile | null {
    return this.profile;
  }

  get fills(): Fills | null {
    return this.colors;
  }

  /** Returns the frames from the root to the zoomed box. */
  get zoomPath(): number[] {
    const { profile } = this;
    return profile === null ? [] : profile.ancestry(this.zoomed).slice(1).map((box) => profile.frame[box]!);
  }

  /** Zooms to the box of a path, or to its nearest ancestor. */
  zoomToPath(path: number[]): void {
    const { profile } = this;
    if (profile === null) return;
    let box = 0;
    for (const frame of path) {
      const next = profile.children(box).find((child) => profile.frame[child] === frame);
      if (next === undefined) break;
      box = next;
    }
    this.zoomTo(box);
  }

  /** Zooms so that the box fills the width. */
  zoomTo(box: number): void {
    const { profile } = this;
    if (profile === null) return;
    this.zoomRange(box, profile.start[box]!, profile.start[box]! + profile.total[box]!);
  }

  private zoomRange(box: number, from: number, to: number): void {
    this.setRange(box, from, to);
    this.activate(this.isInView(this.active) ? this.active : box);
  }

  private setRange(box: number, from: number, to: number): void {
    this.zoomed = box;
    this.range = [from, to > from ? to : from + 1];
    this.deepest = this.profile!.deepestUnder(box);
    this.layout();
    this.listener.onZoom(box);
    this.listener.onRange(this.range[0], this.range[1]);
  }

  /** Shows a range of values, zoomed to the deepest box that contains it. */
  showRange(from: number, to: number): void {
    const profile = this.profile;
    if (profile === null || !(to > from)) return;
    const { start, total } = profile;
    const holds = (box: number) => start[box]! <= from && start[box]! + total[box]! >= to;
    if (from <= 0 && to >= total[0]!) return this.zoomTo(0);
    let box = 0;
    for (let next: number | undefined = 0; next !== undefined; next = profile.children(box).find(holds)) box = next;
    this.zoomRange(box, from, to);
  }

  /** Zooms so that `share` (1 = all) of the visible range fills the width; the value at `at` keeps its place. */
  private scale(share: number, at: number): void {
    const [from, to] = this.range;
    const whole = this.profile!.total[0]!;
    const width = Math.min(whole, Math.max((to - from) * share, whole / 2 ** 40));
    const start = Math.max(0, Math.min(whole - width, at - ((at - from) / (to - from)) * width));
    this.showRange(start, start + width);
  }

  private pan(share: number): void {
    const [from, to] = this.range;
    const by = Math.max(-from, Math.min(this.profile!.total[0]! - to, (to - from) * share));
    this.showRange(from + by, to + by);
  }

  private wheel(event: WheelEvent): void {
    if (this.profile === null || !event.ctrlKey) return;
    event.preventDefault();
    const bounds = this.canvas.getBoundingClientRect();
    const at = this.range[0] + ((event.clientX - bounds.left) / this.width) * (this.range[1] - this.range[0]);
    this.scale(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200))), at);
  }

  private menu(event: MouseEvent): void {
    // Without a mouse (the menu key), the menu opens below the box with the keyboard's focus.
    const item = event.button === 2 ? this.itemUnder(event) : null;
    if (this.profile === null || item?.merged === true) return;
    event.preventDefault();
    if (item !== null) this.activate(item.first);
    this.unpoint();
    const place = item === null ? this.activePlace() : { x: event.clientX, y: event.clientY };
    this.listener.onMenu(this.active, place.x, place.y);
  }

  openMenu(): void {
    const { x, y } = this.activePlace();
    this.unpoint();
    this.listener.onMenu(this.active, x, y);
  }

  private activePlace(): { x: number; y: number } {
    const { x0, x1, width } = this.span();
    const bounds = this.canvas.getBoundingClientRect();
    const left = Math.max(0, ((this.profile!.start[this.active]! - x0) / (x1 - x0)) * width);
    return { x: bounds.left + left, y: bounds.top + rowTop(this.view(), this.profile!.depth[this.active]!) + ROW_HEIGHT };
  }

  private isInView(box: number): boolean {
    const { start, total, depth } = this.profile!;
    const [from, to] = this.range;
    return depth[box]! <= this.deepest && start[box]! < to && start[box]! + total[box]! > from;
  }

  /** Gives a box the keyboard's focus and brings it into view. */
  activate(box: number): void {
    this.active = box;
    this.describeActive();
    this.reveal(box);
    this.listener.onActive(box, true);
    this.outline(this.activeBox, box);
  }

  /** Activates a box, and zooms until it is in view and wide enough to see. */
  jumpTo(box: number): void {
    const profile = this.profile!;
    let target = this.isInView(box) ? this.zoomed : 0;
    const wide = (ancestor: number) => (profile.total[box]! / profile.total[ancestor]!) * this.width >= JUMP_WIDTH;
    if (!wide(target)) target = profile.ancestry(box).find((ancestor) => ancestor === box || wide(ancestor)) ?? box;
    if (target !== this.zoomed) this.zoomTo(target);
    this.activate(box);
  }

  private describeActive(): void {
    const profile = this.profile!;
    const box = this.active;
    const siblings = box === 0 ? [0] : profile.children(profile.parent[box]!);
    this.current.textContent = sentence(profile, box);
    this.current.setAttribute('aria-level', String(profile.depth[box]! + 1));
    this.current.setAttribute('aria-posinset', String(siblings.indexOf(box) + 1));
    this.current.setAttribute('aria-setsize', String(siblings.length));
    this.current.setAttribute('aria-selected', 'true');
  }

  private reveal(box: number): void {
    const top = rowTop(this.view(), this.profile!.depth[box]!);
    if (top < 0) this.scrollTo(this.scrollTop + top);
    else if (top + ROW_HEIGHT > this.height) this.scrollTo(this.scrollTop + top + ROW_HEIGHT - this.height);
    else return;
    this.ownScroll = this.scrollTop;
  }

  private scrollTo(top: number): void {
    this.scroller.scrollTop = top;
    this.scrollTop = this.scroller.scrollTop;
  }

  private scrollToRoot(): void {
    this.scrollTo(this.mode === 'icicle' ? 0 : this.scroller.scrollHeight);
    this.repaint();
  }

  private view() {
    return { mode: this.mode, deepest: this.deepest, scrollTop: this.scrollTop };
  }

  private span(): Span {
    return { x0: this.range[0], x1: this.range[1], width: this.width };
  }

  private measure(): void {
    const { width, height } = this;
    this.fit();
    // A resized canvas is empty, and this is the last call before the screen shows it.
    if (this.width !== width || this.height !== height) this.paint();
  }

  private layout(): void {
    this.fit();
    this.repaint();
  }

  /** Fits scroller, canvas and spacer to the rows. The canvas stays in view while the spacer scrolls. */
  private fit(): void {
    const content = (this.deepest + 1) * ROW_HEIGHT;
    if (this.maxHeight > 0) this.scroller.style.height = `${Math.min(content, this.maxHeight)}px`;
    this.width = this.scroller.clientWidth;
    const room = this.scroller.clientHeight;
    this.height = Math.min(room, Math.max(content, ROW_HEIGHT));
    this.scrollTop = Math.min(this.scrollTop, Math.max(0, content - room));
    this.spacer.style.height = `${Math.max(0, content - this.height)}px`;
    this.painter.resize(this.width, this.height);
    if (this.profile !== null) {
      this.outline(this.activeBox, this.active);
      this.outline(this.hoverBox, this.hoverTarget());
    }
  }

  private hoverTarget(): number {
    return this.hover === null || this.hover.merged ? -1 : this.hover.first;
  }

  /** Puts a frame around a box, or hides it (-1). The frame lies over the canvas, so moving it does not repaint. */
  private outline(frame: HTMLElement, box: number): void {
    frame.hidden = box < 0 || !this.isInView(box);
    if (frame.hidden) return;
    const { start, total, depth } = this.profile!;
    const { x0, x1, width } = this.span();
    const scale = width / (x1 - x0);
    const left = Math.max(0, (start[box]! - x0) * scale);
    const right = Math.min(width, (start[box]! + total[box]! - x0) * scale);
    frame.style.left = `${left}px`;
    frame.style.top = `${rowTop({ ...this.view(), scrollTop: 0 }, depth[box]!)}px`;
    frame.style.width = `${Math.max(right - left, 2)}px`;
    frame.style.height = `${ROW_HEIGHT - 1}px`;
  }

  private repaint(): void {
    if (this.frameRequest !== 0) return;
    this.frameRequest = requestAnimationFrame(() => {
      // Other changes of the page since then may have changed the graph's size. So it is fitted first and painted once.
      this.fit();
      this.paint();
    });
  }

  private paint(): void {
    const { profile, colors } = this;
    cancelAnimationFrame(this.frameRequest);
    this.frameRequest = 0;
    if (profile === null || colors === null || this.width === 0) return;
    const scene: Scene = {
      ...this.view(),
      profile,
      fills: colors,
      palette: palette(currentScheme()),
      span: this.span(),
      zoomed: this.zoomed,
      matches: this.matches,
      height: this.height,
    };
    this.painter.paint(scene);
  }

  private itemUnder({ clientX, clientY }: { clientX: number; clientY: number }): Item | null {
    if (this.profile === null) return null;
    const bounds = this.canvas.getBoundingClientRect();
    const y = clientY - bounds.top;
    if (y < 0 || y >= this.height) return null;
    const row = rowAt(this.view(), y);
    return row > this.deepest ? null : itemAt(this.profile, row, this.span(), clientX - bounds.left);
  }

  private point(pointer: { clientX: number; clientY: number }): void {
    const item = this.itemUnder(pointer);
    this.hover = item;
    this.outline(this.hoverBox, this.hoverTarget());
    this.pointer = pointer;
    this.keyboardTip = false;
    this.scroller.classList.toggle('hsf-pointing', item !== null);
    if (item === null) this.tooltip.hide();
    else this.tooltip.show(describe(this.profile!, item, this.zoomed), pointer.clientX, pointer.clientY);
  }

  private unpoint(): void {
    this.hover = null;
    this.pointer = null;
    this.keyboardTip = false;
    this.hoverBox.hidden = true;
    this.tooltip.hide();
  }

  private click(event: MouseEvent): void {
    const item = this.itemUnder(event);
    if (item === null) return;
    if (item.merged) this.zoomIntoMerged(item);
    else if (event.ctrlKey || event.altKey) this.listener.onRemove(item.first);
    else {
      this.active = item.first;
      this.zoomTo(item.first);
    }
    this.unpoint();
  }

  /** Zooms to the values of a merged block, under the common ancestor of its boxes. */
  private zoomIntoMerged(item: Item): void {
    const profile = this.profile!;
    let common = profile.parent[item.first]!;
    const last = profile.start[item.last]! + profile.total[item.last]!;
    while (profile.start[common]! + profile.total[common]! < last) common = profile.parent[common]!;
    this.active = item.first;
    this.zoomRange(common, profile.start[item.first]!, last);
  }

  private key(event: KeyboardEvent): void {
    if (this.profile === null || event.altKey) return;
    if (this.listener.onKey(event) || (!event.ctrlKey && !event.metaKey && this.ownKey(event))) event.preventDefault();
  }

  private ownKey({ key, shiftKey }: KeyboardEvent): boolean {
    const deeper = this.mode === 'icicle' ? 'ArrowDown' : 'ArrowUp';
    switch (key) {
      case '+':
      case '-':
        this.scale(key === '+' ? 0.5 : 2, this.middle());
        return true;
      case 'ArrowDown':
      case 'ArrowUp':
        this.move(key === deeper ? this.heaviestChild() : this.profile!.parent[this.active]!);
        return true;
      case 'ArrowLeft':
      case 'ArrowRight':
        if (shiftKey) this.pan(key === 'ArrowLeft' ? -0.25 : 0.25);
        else this.move(this.neighbour(key === 'ArrowLeft' ? -1 : 1));
        return true;
      case 'Home':
        this.move(this.zoomed);
        return true;
      case 'Enter':
      case ' ':
        this.zoomTo(this.active);
        return true;
      case 'Backspace':
        this.zoomTo(Math.max(0, this.profile!.parent[this.zoomed]!));
        return true;
      case '0':
        this.zoomTo(0);
        return true;
      default:
        return false;
    }
  }

  private move(box: number): void {
    if (box < 0) return;
    this.activate(box);
    this.unpoint();
    this.keyboardTip = true;
    this.showTooltipAtActive();
  }

  /** Returns the value to zoom around: the middle of the visible part of the box with the keyboard's focus. */
  private middle(): number {
    const { start, total } = this.profile!;
    const [from, to] = this.range;
    const left = Math.max(from, start[this.active]!);
    const right = Math.min(to, start[this.active]! + total[this.active]!);
    return right > left ? (left + right) / 2 : (from + to) / 2;
  }

  private heaviestChild(): number {
    const { total } = this.profile!;
    return this.profile!.children(this.active).reduce((best, box) => (best < 0 || total[box]! > total[best]! ? box : best), -1);
  }

  /** Returns the next visible box of the same row. */
  private neighbour(step: number): number {
    const { rowBoxes, rowStart, depth } = this.profile!;
    const row = depth[this.active]!;
    const boxes = rowBoxes.subarray(rowStart[row]!, rowStart[row + 1]!);
    const next = boxes[boxes.indexOf(this.active) + step];
    return next !== undefined && this.isInView(next) ? next : -1;
  }

  private showTooltipAtActive(): void {
    const { x, y } = this.activePlace();
    const item = { first: this.active, last: this.active, index: 0, count: 1, total: 0, merged: false, left: 0, right: 0 };
    this.tooltip.show(describe(this.profile!, item, this.zoomed), x, y);
  }

  /** Returns `Cart.total, 12.3 %`, or an empty string without zoom. */
  zoomLabel(): string {
    const { profile, zoomed } = this;
    if (profile === null || zoomed === 0) return '';
    return `${profile.label(zoomed)}, ${formatPercent(profile.total[zoomed]!, profile.total[0]!)}`;
  }
}
