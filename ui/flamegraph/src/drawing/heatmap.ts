// SPDX-License-Identifier: Apache-2.0
// A recording's time as a map: a column per second (or another round time), rows within it, coloured by what was used then. A stretch
// of it is selected by mouse or keyboard.
import { element, helpOn, on, tool } from '../dom.ts';
import { formatPercent, formatValue } from '../format.ts';
import type { Heat } from '../document/heat.ts';
import { clockDate, clockTime, HeatGrid } from './heatgrid.ts';
import { currentScheme, onSchemeChange, type Scheme } from './palette.ts';
import { Tooltip } from '../tooltip.ts';

const LEFT = 66;
const BELOW = 18;
const LEVELS = 64;
/** How much of its colour a cell keeps that is not selected. */
const DIM = 0.3;
const LABEL = 72;
/** As they lie in ImageData: around what is selected, and, chequered, where nothing was recorded. */
const FRAME = 0xffeb6f1f;
const GAP = 0x60808080;
const PALE_GAP = 0x30808080;

/** From nothing to most; each step is darker on white, lighter on black. */
const RAMPS: Record<Scheme, string> = { light: 'f1f3f6 fde0a6 f79d4c d6452a 6d0f2b', dark: '20252d 4c2a4a a23a3c ee8b3a fff3b8' };
const BACK: Record<Scheme, number> = { light: 255, dark: 24 };

const KEYS = `Arrow keys|to another cell (PgUp, PgDn: ten columns; Home, End)
Shift with these|select up to there
Enter|select the column
s, S|start of the selection later, earlier
e, E|end of the selection later, earlier
n, N|next hottest cell, and back
z|zoom in to the selection
Backspace|zoom out
0, Esc|select the whole recording
?|this help`;

/** Colours by level, as they lie in ImageData: LEVELS as they are, then LEVELS dimmed. */
function ramp(scheme: Scheme): Uint32Array {
  const stops = RAMPS[scheme].split(' ').map((color) => parseInt(color, 16));
  const back = BACK[scheme];
  return Uint32Array.from({ length: LEVELS * 2 }, (_, i) => {
    const at = ((i % LEVELS) / (LEVELS - 1)) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    const channel = (shift: number) => {
      const [a, b] = [(stops[low]! >> shift) & 255, (stops[low + 1]! >> shift) & 255];
      const full = a + (b - a) * (at - low);
      return Math.round(i < LEVELS ? full : back + (full - back) * DIM);
    };
    return ((255 << 24) | (channel(0) << 16) | (channel(8) << 8) | channel(16)) >>> 0;
  });
}

/** A selection in UTC ms. */
export type Stretch = [from: number, to: number];

export interface HeatMapOptions {
  /** Null = the whole recording. */
  onSelect(stretch: Stretch | null): void;
}

export class HeatMap {
  readonly element: HTMLElement;
  private readonly canvas = element('canvas', { 'aria-hidden': true });
  private readonly cursorBox = element('div', { class: 'hsf-outline', 'aria-hidden': true });
  private readonly plot = element('div', { class: 'hsh-plot', tabindex: 0, role: 'application', 'aria-label': 'Heatmap: arrow keys, Shift to select, ? for help', testId: 'heatmap' }, this.canvas, this.cursorBox);
  private readonly said = element('output', { class: 'hsh-said', testId: 'selection' });
  private readonly live = element('div', { class: 'hsf-sr', 'aria-live': 'polite', testId: 'heatmap-live' });
  private readonly legend = element('span', { class: 'hsh-legend', testId: 'scale' });
  private readonly help = helpOn('Keys in the heatmap', KEYS);
  private readonly tooltip = new Tooltip();
  private readonly buttons: HTMLButtonElement[];
  private heat: Heat | null = null;
  private unit = '';
  private grid: HeatGrid | null = null;
  /** Shown buckets, and selected ones: from one to before another. */
  private view: Stretch = [0, 0];
  private selected: Stretch = [0, 0];
  private chosen: Stretch | null = null;
  private cursor = 0;
  private anchor = 0;
  private dragging = false;
  /** Cells by heat, and which of them the cursor went to last. */
  private hot: number[] = [];
  private hotAt = -1;

  constructor(private readonly options: HeatMapOptions) {
    this.buttons = [
      tool('Whole recording', 'Whole recording (0)', () => this.choose(null)),
      tool('Zoom in', 'Zoom in (z)', () => this.zoom(this.selected)),
      tool('Zoom out', 'Zoom out (Backspace)', () => this.zoom(null)),
    ];
    const help = tool('?', 'Keys in the heatmap (?)', () => this.help.togglePopover());
    const bar = element('div', { class: 'hsf-bar' }, element('span', { class: 'hsf-group' }, ...this.buttons), this.said, element('span', { class: 'hsf-gap' }), this.legend, element('span', { class: 'hsf-group' }, help));
    this.element = element('section', { class: 'hsf hsh', 'aria-label': 'Heatmap' }, bar, this.plot, this.live, this.help, this.tooltip.element);
    this.listen();
  }

  private listen(): void {
    const { plot } = this;
    on(plot, 'pointerdown', (event) => this.press(event));
    on(plot, 'pointermove', (event) => this.move(event));
    on(plot, 'pointerup', () => (this.dragging = false));
    on(plot, 'pointerleave', () => this.tooltip.hide());
    on(plot, 'blur', () => this.tooltip.hide());
    on(plot, 'keydown', (event) => {
      if (this.grid !== null && this.key(event)) event.preventDefault();
    });
    new ResizeObserver(() => this.layout()).observe(plot);
    onSchemeChange(() => this.layout());
  }

  /** Shows sums; what is selected and shown stays the same time. */
  setHeat(heat: Heat, unit: string, chosen: Stretch | null): void {
    const old = this.heat;
    const isWhole = old === null || (this.view[0] === 0 && this.view[1] === old.count);
    const times = isWhole ? null : (this.view.map((bucket) => old.origin + bucket * old.step) as Stretch);
    this.heat = heat;
    this.unit = unit;
    this.view = this.buckets(times);
    this.chosen = chosen;
    this.selected = this.buckets(chosen);
    this.layout();
    this.say();
  }

  /** Returns the buckets of a time, at least one; all buckets for null. */
  private buckets(stretch: Stretch | null): Stretch {
    const { count, origin, step } = this.heat!;
    if (stretch === null) return [0, count];
    const [from, to] = stretch.map((time) => Math.round((time - origin) / step)) as Stretch;
    const start = Math.max(0, Math.min(count - 1, from));
    return [start, Math.max(start + 1, Math.min(count, to))];
  }

  get selection(): Stretch {
    return this.selected;
  }

  private choose(stretch: Stretch | null): void {
    const { heat } = this;
    if (heat === null) return;
    const isWhole = stretch === null || (stretch[0] <= 0 && stretch[1] >= heat.count);
    this.selected = isWhole ? [0, heat.count] : stretch;
    this.chosen = isWhole ? null : (stretch.map((bucket) => heat.origin + bucket * heat.step) as Stretch);
    this.say();
    this.paint();
    this.options.onSelect(this.chosen);
  }

  /** Shows a stretch, or with null all. */
  private zoom(stretch: Stretch | null): void {
    this.view = stretch ?? [0, this.heat!.count];
    this.layout();
    this.say();
  }

  private sum(from: number, to: number): number {
    return this.heat!.sums.subarray(from, to).reduce((sum, value) => sum + value, 0);
  }

  private clock(bucket: number): string {
    const { origin, step } = this.heat!;
    return clockTime(origin + bucket * step, step);
  }

  /** Describes the selection in words. */
  private say(): void {
    const { heat, selected } = this;
    const [from, to] = selected;
    const value = this.sum(from, to);
    const share = formatPercent(value, this.sum(0, heat!.count));
    const length = formatValue((to - from) * heat!.step * 1e6, 'ns');
    const text = `${clockDate(heat!.origin)} ${this.clock(from)} to ${this.clock(to)} UTC, ${length}: ${formatValue(value, this.unit)}, ${share} of all`;
    this.said.textContent = text;
    const data = this.element.dataset;
    data['value'] = String(value);
    data['from'] = String(from);
    data['to'] = String(to);
    const [whole, zoomIn, zoomOut] = this.buttons as [HTMLButtonElement, HTMLButtonElement, HTMLButtonElement];
    whole.disabled = this.chosen === null;
    zoomIn.disabled = String(this.view) === String(selected);
    zoomOut.disabled = this.view[1] - this.view[0] === heat!.count;
  }

  private layout(): void {
    const { heat, view, plot, canvas } = this;
    const width = plot.clientWidth - LEFT;
    if (heat === null || width < 1) return;
    const grid = new HeatGrid(heat, view[0], view[1], width);
    const time = this.grid?.time(this.grid.bucketOf(this.cursor)) ?? 0;
    this.grid = grid;
    const first = grid.cellOf(view[0]);
    const last = grid.cellOf(view[1] - 1);
    this.cursor = this.anchor = Math.max(first, Math.min(last, grid.cellOf(Math.round((time - heat.origin) / heat.step))));
    this.hot = [...grid.cells.keys()].filter((cell) => grid.cells[cell]! > 0).sort((a, b) => grid.cells[b]! - grid.cells[a]! || a - b).slice(0, 100);
    this.hotAt = -1;
    const height = grid.rows * grid.cellHeight + BELOW;
    plot.style.height = canvas.style.height = `${height}px`;
    canvas.style.width = `${plot.clientWidth}px`;
    canvas.width = plot.clientWidth * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    this.showLegend();
    this.paint();
  }

  private showLegend(): void {
    const { grid, legend, unit } = this;
    const { most, buckets, heat } = grid!;
    const strip = element('span', { class: 'hsh-strip', 'aria-hidden': true });
    strip.style.background = `linear-gradient(to right,${RAMPS[currentScheme()].replace(/\w+/g, '#$&').replaceAll(' ', ',')})`;
    const mark = (value: number) => element('span', {}, formatValue(value, unit));
    // Colours go with the square root, so that a quarter of the most is in the middle.
    const marks = element('span', { class: 'hsh-marks' }, mark(0), mark(most / 4), mark(most));
    legend.replaceChildren(`in ${formatValue(buckets * heat.step * 1e6, 'ns')}`, element('span', {}, strip, marks));
  }

  private place(cell: number): { x: number; y: number } {
    const { rows, cellWidth, cellHeight } = this.grid!;
    return { x: LEFT + Math.floor(cell / rows) * cellWidth, y: (rows - 1 - (cell % rows)) * cellHeight };
  }

  paint(): void {
    const { grid, canvas } = this;
    if (grid === null) return;
    const { rows, columns, cellWidth, cellHeight } = grid;
    const style = getComputedStyle(canvas);
    const pen = canvas.getContext('2d')!;
    pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.imageSmoothingEnabled = false;
    const draw = (image: OffscreenCanvas, x: number, y: number) => pen.drawImage(image, LEFT + x, y, columns * cellWidth, rows * cellHeight);
    draw(this.image('all'), 0, 0);
    if (this.chosen !== null) {
      // Moved to all sides, and then covered by what it goes around.
      const mask = this.image('mask');
      for (const [x, y] of [[2, 0], [-2, 0], [0, 2], [0, -2]] as const) draw(mask, x, y);
      draw(this.image('selected'), 0, 0);
    }
    pen.fillStyle = style.color;
    this.paintAxes(pen, style.fontFamily);
    const { x, y } = this.place(this.cursor);
    Object.assign(this.cursorBox.style, { left: `${x - 1}px`, top: `${y - 1}px`, width: `${cellWidth + 2}px`, height: `${cellHeight + 2}px` });
  }

  /** Draws one pixel for each cell: all cells, only the selected ones, or the selected ones in one colour. */
  private image(what: 'all' | 'selected' | 'mask'): OffscreenCanvas {
    const { rows, columns, cells, most } = this.grid!;
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const colors = ramp(currentScheme());
    const [from, to] = this.selectedCells();
    cells.forEach((value, cell) => {
      const row = cell % rows;
      const column = Math.floor(cell / rows);
      const isOut = cell < from || cell >= to;
      let color = what === 'mask' ? FRAME : colors[Math.floor(Math.sqrt(value / (most || 1)) * (LEVELS - 1)) + (isOut ? LEVELS : 0)]!;
      if (Number.isNaN(value)) color = what !== 'all' ? 0 : (column + row) % 2 ? GAP : PALE_GAP;
      if (value >= 0 ? isOut && what !== 'all' : value < 0) color = 0;
      pixels[(rows - 1 - row) * columns + column] = color;
    });
    const result = new OffscreenCanvas(columns, rows);
    result.getContext('2d')!.putImageData(image, 0, 0);
    return result;
  }

  private selectedCells(): Stretch {
    const { grid, selected } = this;
    return [grid!.cellOf(selected[0]), grid!.cellOf(selected[1] - 1) + 1];
  }

  private paintAxes(pen: CanvasRenderingContext2D, font: string): void {
    const { grid } = this;
    const { rows, cellWidth, cellHeight, length } = grid!;
    const bottom = rows * cellHeight;
    pen.font = `11px ${font}`;
    pen.textBaseline = 'middle';
    for (const { column, time, spacing } of grid!.ticks(LABEL)) {
      const x = LEFT + column * cellWidth;
      pen.fillRect(x, bottom, 1, 5);
      pen.fillText(spacing % 86_400_000 === 0 ? clockDate(time) : clockTime(time, spacing), x + 4, bottom + 11);
    }
    pen.textAlign = 'right';
    for (const part of [0, 0.5, 1]) {
      const y = bottom * (1 - part);
      pen.fillRect(LEFT - 5, Math.min(bottom - 1, y), 5, 1);
      pen.fillText(`+${formatValue(length * part * 1e6, 'ns').replace('0 ns', '0')}`, LEFT - 8, Math.max(6, Math.min(bottom - 6, y)));
    }
    pen.textAlign = 'left';
  }

  // ---- mouse and keyboard ----

  /** Returns the cell under the mouse, or the nearest. */
  private cellAt({ clientX, clientY }: MouseEvent): number {
    const { rows, columns, cellWidth, cellHeight } = this.grid!;
    const { left, top } = this.plot.getBoundingClientRect();
    const column = Math.max(0, Math.min(columns - 1, Math.floor((clientX - left - LEFT) / cellWidth)));
    const row = rows - 1 - Math.max(0, Math.min(rows - 1, Math.floor((clientY - top) / cellHeight)));
    return this.within(column * rows + row);
  }

  private within(cell: number): number {
    const { grid } = this;
    return Math.max(grid!.cellOf(grid!.from), Math.min(grid!.cellOf(grid!.to - 1), cell));
  }

  private press(event: PointerEvent): void {
    if (this.grid === null || event.button !== 0) return;
    this.plot.setPointerCapture(event.pointerId);
    this.dragging = true;
    this.goTo(this.cellAt(event), event.shiftKey);
    if (!event.shiftKey) this.selectTo(this.cursor);
  }

  private move(event: PointerEvent): void {
    if (this.grid === null) return;
    const cell = this.cellAt(event);
    if (this.dragging && cell !== this.cursor) this.goTo(cell, true);
    this.describe(cell, event.clientX, event.clientY);
  }

  private describe(cell: number, x: number, y: number): void {
    const { grid } = this;
    const value = grid!.cells[cell]!;
    const [from, to] = [grid!.bucketOf(cell), grid!.bucketOf(cell + 1)];
    const title = `${this.clock(from)} to ${this.clock(to)} UTC`;
    const what = Number.isNaN(value) ? 'nothing was recorded' : formatValue(value, this.unit);
    const rows: [string, string][] = [['Total', what]];
    if (value > 0) rows.push(['Of all', formatPercent(value, this.sum(0, this.heat!.count))]);
    this.tooltip.show({ title, rows }, x, y);
    this.element.dataset['cell'] = `${title}: ${what}`;
  }

  /** Moves the cursor, and with `selecting` the end of the selection. */
  private goTo(cell: number, selecting: boolean): void {
    this.cursor = this.within(cell);
    if (selecting) this.selectTo(this.cursor);
    else {
      this.anchor = this.cursor;
      this.paint();
    }
    const { x, y } = this.place(this.cursor);
    const { left, top } = this.plot.getBoundingClientRect();
    this.describe(this.cursor, left + x, top + y);
    this.live.textContent = selecting ? this.said.textContent : this.element.dataset['cell']!;
  }

  private selectTo(cell: number): void {
    const { grid, anchor } = this;
    this.choose([grid!.bucketOf(Math.min(anchor, cell)), grid!.bucketOf(Math.max(anchor, cell) + 1)]);
  }

  private selectColumn(): void {
    const { rows } = this.grid!;
    const first = this.cursor - (this.cursor % rows);
    this.anchor = this.within(first);
    this.selectTo(this.within(first + rows - 1));
  }

  /** Moves one end of the selection by a cell. */
  private adjust(end: 0 | 1, by: number): void {
    const next = [...this.selected] as Stretch;
    next[end] += by * this.grid!.buckets;
    if (next[0] < next[1]) this.choose([Math.max(0, next[0]), Math.min(this.heat!.count, next[1])]);
  }

  private hottest(by: number): void {
    const { hot } = this;
    if (hot.length === 0) return;
    this.hotAt = (this.hotAt + by + hot.length) % hot.length;
    this.goTo(hot[this.hotAt]!, false);
  }

  private key({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
    if (ctrlKey || metaKey || altKey) return false;
    const { rows, cells } = this.grid!;
    const go = (by: number) => () => this.goTo(this.cursor + by, shiftKey);
    const actions = new Map([
      ['ArrowUp', go(1)],
      ['ArrowDown', go(-1)],
      ['ArrowRight', go(rows)],
      ['ArrowLeft', go(-rows)],
      ['PageDown', go(rows * 10)],
      ['PageUp', go(-rows * 10)],
      ['Home', go(-cells.length)],
      ['End', go(cells.length)],
      ['Enter', () => this.selectColumn()],
      ['s', () => this.adjust(0, 1)],
      ['S', () => this.adjust(0, -1)],
      ['e', () => this.adjust(1, 1)],
      ['E', () => this.adjust(1, -1)],
      ['n', () => this.hottest(1)],
      ['N', () => this.hottest(-1)],
      ['z', () => this.zoom(this.selected)],
      ['Backspace', () => this.zoom(null)],
      ['0', () => this.choose(null)],
      ['Escape', () => this.choose(null)],
      ['?', () => this.help.togglePopover()],
    ]);
    const action = actions.get(key);
    action?.();
    return action !== undefined;
  }
}
