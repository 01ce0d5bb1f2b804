// SPDX-License-Identifier: Apache-2.0
// The whole graph in a strip, with a window over what the graph shows. Dragging moves or draws the window; keys do the same in the graph.
import { element, on } from '../dom.ts';
import { currentScheme, palette, type Fills } from './palette.ts';
import type { Profile } from '../document/profile.ts';
import { visitRow } from '../document/rows.ts';

const HEIGHT = 32;
/** A drag of fewer pixels is a click: it moves the window there. */
const CLICK = 4;

export class Minimap {
  readonly element = element('div', { class: 'hsf-map', 'aria-hidden': true, testId: 'minimap' });
  private readonly canvas = element('canvas');
  private readonly pane = element('div', { class: 'hsf-map-window' });
  private profile: Profile | null = null;
  private range: [from: number, to: number] = [0, 1];
  private fills: Fills | null = null;
  private drag: { from: number; grip: number | null } | null = null;

  constructor(private readonly onRange: (from: number, to: number) => void) {
    this.element.append(this.canvas, this.pane);
    on(this.element, 'pointerdown', (event) => this.press(event));
    on(this.element, 'pointermove', (event) => this.move(event));
    on(this.element, 'pointerup', (event) => this.release(event));
  }

  setProfile(profile: Profile, fills: Fills): void {
    this.profile = profile;
    this.fills = fills;
    // After the frame with the graph.
    requestAnimationFrame(() => setTimeout(() => this.paint()));
  }

  setRange(from: number, to: number): void {
    this.range = [from, to];
    const whole = this.profile?.total[0] ?? 0;
    const isWhole = whole <= 0 || (from <= 0 && to >= whole);
    this.pane.hidden = isWhole;
    if (isWhole) return;
    this.pane.style.left = `${(from / whole) * 100}%`;
    this.pane.style.width = `max(2px, ${((to - from) / whole) * 100}%)`;
  }

  /** Paints one line of pixels for one or more rows. */
  paint(): void {
    const { profile, canvas, fills } = this;
    const width = Math.round(this.element.clientWidth);
    const whole = profile?.total[0] ?? 0;
    if (profile === null || fills === null || width === 0 || whole <= 0) return;
    const image = new ImageData(width, HEIGHT);
    const pixels = new Uint32Array(image.data.buffer);
    const colors = palette(currentScheme());
    const rows = profile.maxDepth + 1;
    const lines = Math.max(1, Math.floor(HEIGHT / rows));
    for (let row = 0; row < rows; row++) {
      const top = Math.floor((row * HEIGHT) / Math.max(rows, HEIGHT / 4)) * width;
      if (top >= pixels.length) break;
      visitRow(profile, row, { x0: 0, x1: whole, width }, (item) => {
        const left = Math.min(width - 1, Math.round(item.left));
        const right = Math.max(left + 1, Math.round(item.right));
        const color = fills.color(item, colors);
        for (let line = 0; line < Math.min(lines, 4); line++) pixels.fill(color, top + line * width + left, top + line * width + right);
      });
    }
    canvas.width = width;
    canvas.height = HEIGHT;
    canvas.getContext('2d')!.putImageData(image, 0, 0);
  }

  private valueAt(event: PointerEvent): number {
    const { left, width } = this.element.getBoundingClientRect();
    return (Math.max(0, Math.min(1, (event.clientX - left) / width))) * (this.profile?.total[0] ?? 0);
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0 || this.profile === null) return;
    const at = this.valueAt(event);
    const [from, to] = this.range;
    const isInside = !this.pane.hidden && at >= from && at <= to;
    this.drag = { from: at, grip: isInside ? at - from : null };
    this.element.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    if (this.drag === null) return;
    const at = this.valueAt(event);
    if (this.drag.grip !== null) this.pan(at - this.drag.grip);
    else if (this.isDrag(at)) this.onRange(Math.min(at, this.drag.from), Math.max(at, this.drag.from));
  }

  private isDrag(at: number): boolean {
    return Math.abs(at - this.drag!.from) * this.element.clientWidth > CLICK * this.profile!.total[0]!;
  }

  private release(event: PointerEvent): void {
    if (this.drag === null) return;
    const at = this.valueAt(event);
    const [from, to] = this.range;
    if (this.drag.grip === null && !this.isDrag(at)) this.pan(at - (to - from) / 2);
    this.drag = null;
  }

  private pan(from: number): void {
    const width = this.range[1] - this.range[0];
    const start = Math.max(0, Math.min(this.profile!.total[0]! - width, from));
    this.onRange(start, start + width);
  }
}
