// SPDX-License-Identifier: Apache-2.0
// Draws the visible rows on a 2D canvas. A large graph shows tens of thousands of boxes at once, most of them a pixel wide: boxes are
// written into a strip image, one line of pixels per row, and the strip is stretched to row height in one go. Only text is drawn singly.
import { formatPercent } from '../format.ts';
import type { Fills, Palette } from './palette.ts';
import { GROUP } from '../document/layout.ts';
import type { Profile } from '../document/profile.ts';
import { visitRow, type Item, type Span } from '../document/rows.ts';

export const ROW_HEIGHT = 18;
export type Mode = 'icicle' | 'flame';

const FONT = '12px system-ui, sans-serif';
const PADDING = 5;
const MIN_TEXT_WIDTH = 22;

export interface Scene {
  profile: Profile;
  fills: Fills;
  palette: Palette;
  mode: Mode;
  span: Span;
  /** The zoomed box: boxes above it are drawn faded. */
  zoomed: number;
  /** The deepest row that is shown. */
  deepest: number;
  matches: Uint8Array | null;
  scrollTop: number;
  height: number;
}

/** Returns the top of a row in the scene, in CSS pixels below the canvas' top. */
export function rowTop(scene: Pick<Scene, 'mode' | 'deepest' | 'scrollTop'>, row: number): number {
  const index = scene.mode === 'icicle' ? row : scene.deepest - row;
  return index * ROW_HEIGHT - scene.scrollTop;
}

/** Returns the row at `y`, which can be out of range. */
export function rowAt(scene: Pick<Scene, 'mode' | 'deepest' | 'scrollTop'>, y: number): number {
  const index = Math.floor((y + scene.scrollTop) / ROW_HEIGHT);
  return scene.mode === 'icicle' ? index : scene.deepest - index;
}

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private readonly strip: CanvasRenderingContext2D;
  private readonly widths = new Map<string, number>();
  private image = new ImageData(1, 1);
  private pixels = new Uint32Array(this.image.data.buffer);
  private density = 1;
  /** The search of `groups`, which has for each group of rowBoxes 0 = not tested yet, 1 = no match, 2 = a match. */
  private searched: Uint8Array | null = null;
  private groups = new Uint8Array(0);

  constructor(canvas: HTMLCanvasElement) {
    const context = canvas.getContext('2d', { alpha: false });
    const strip = document.createElement('canvas').getContext('2d', { alpha: false });
    if (context === null || strip === null) throw new Error('this browser has no 2D canvas');
    this.context = context;
    this.strip = strip;
  }

  /** Sizes the canvas for the screen's density. */
  resize(width: number, height: number): void {
    const { canvas } = this.context;
    this.density = devicePixelRatio || 1;
    const pixelWidth = Math.max(1, Math.round(width * this.density));
    const pixelHeight = Math.max(1, Math.round(height * this.density));
    if (canvas.width !== pixelWidth) canvas.width = pixelWidth;
    if (canvas.height !== pixelHeight) canvas.height = pixelHeight;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }

  paint(scene: Scene): void {
    const { context, density } = this;
    const { palette, span } = scene;
    context.setTransform(density, 0, 0, density, 0, 0);
    context.fillStyle = palette.backgroundText;
    context.fillRect(0, 0, span.width, scene.height);
    if (scene.profile.total[0] === 0) return;
    const edges = [rowAt(scene, 0), rowAt(scene, scene.height)];
    const from = Math.max(0, Math.min(...edges));
    const to = Math.min(scene.deepest, Math.max(...edges));
    if (to < from) return;
    const labelled = this.paintStrip(scene, from, to);
    const top = Math.min(rowTop(scene, from), rowTop(scene, to));
    context.imageSmoothingEnabled = false;
    context.drawImage(this.strip.canvas, 0, top, span.width, (to - from + 1) * ROW_HEIGHT);
    for (let row = from; row <= to; row++) context.fillRect(0, rowTop(scene, row) + ROW_HEIGHT - 1, span.width, 1);
    context.font = FONT;
    context.textBaseline = 'middle';
    context.direction = 'ltr';
    for (const item of labelled) this.paintText(scene, item);
  }

  /** Writes the rows into the strip, in their order on the screen, and returns the items that have room for text. */
  private paintStrip(scene: Scene, from: number, to: number): Item[] {
    const width = this.context.canvas.width;
    const rows = to - from + 1;
    if (this.image.width !== width || this.image.height !== rows) {
      this.strip.canvas.width = width;
      this.strip.canvas.height = rows;
      this.image = new ImageData(width, rows);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const { pixels, density } = this;
    if (this.searched !== scene.matches) {
      this.searched = scene.matches;
      this.groups = new Uint8Array(scene.profile.boxCount / GROUP);
    }
    pixels.fill(scene.palette.background);
    const labelled: Item[] = [];
    for (let row = from; row <= to; row++) {
      const line = (scene.mode === 'icicle' ? row - from : to - row) * width;
      visitRow(scene.profile, row, scene.span, (item) => {
        const left = Math.min(Math.round(item.left * density), width - 1);
        // A line of background between boxes, where there is room for it.
        const gap = item.right - item.left > 3 ? 1 : 0;
        const right = Math.max(left + 1, Math.round(item.right * density) - gap);
        const color = this.fill(scene, item);
        for (let x = line + left; x < line + right; x++) pixels[x] = color;
        if (item.right - item.left >= MIN_TEXT_WIDTH) labelled.push({ ...item });
      });
    }
    this.strip.putImageData(this.image, 0, 0);
    return labelled;
  }

  private isAncestor({ profile, zoomed }: Scene, item: Item): boolean {
    return !item.merged && profile.depth[item.first]! < profile.depth[zoomed]!;
  }

  private fill(scene: Scene, item: Item): number {
    const { profile, palette, fills, matches } = scene;
    const frame = profile.frame[item.first]!;
    if (item.merged && matches !== null && this.hidesMatch(profile, matches, item)) return palette.match;
    const isFaded = this.isAncestor(scene, item);
    if (item.merged || frame < 0) return isFaded && frame < 0 && !profile.isOmitted(item.first) ? palette.fadedRoot : fills.color(item, palette);
    if (matches === null) return (isFaded ? palette.fadedFills : palette.fills)[fills.of(item.first)]!;
    if (matches[frame] === 1) return isFaded ? palette.fadedMatch : palette.match;
    return isFaded ? palette.fadedDimmed : palette.dimmed;
  }

  /** Returns whether a merged block hides a match. The result for a group is kept until the next search. */
  private hidesMatch(profile: Profile, matches: Uint8Array, { index, count }: Item): boolean {
    const { frame, rowBoxes } = profile;
    const end = index + count;
    const some = (from: number, to: number) => {
      while (from < to && matches[frame[rowBoxes[from]!]!] !== 1) from++;
      return from < to;
    };
    for (let from = index; from < end; ) {
      const group = Math.floor(from / GROUP);
      const to = (group + 1) * GROUP;
      if (from % GROUP > 0 || to > end ? some(from, Math.min(to, end)) : (this.groups[group] ||= some(from, to) ? 2 : 1) === 2) return true;
      from = to;
    }
    return false;
  }

  private paintText(scene: Scene, item: Item): void {
    const room = item.right - item.left - 2 * PADDING;
    const text = this.fit(this.candidates(scene.profile, item), room);
    if (text === '') return;
    const { context } = this;
    const { palette, profile, matches } = scene;
    const frame = item.merged ? -1 : profile.frame[item.first]!;
    const plain = frame < 0 || matches === null;
    context.fillStyle = plain ? palette.text : matches[frame] === 1 ? palette.matchText : palette.dimmedText;
    context.globalAlpha = this.isAncestor(scene, item) ? 0.8 : 1;
    context.fillText(text, item.left + PADDING, rowTop(scene, profile.depth[item.first]!) + ROW_HEIGHT / 2);
    context.globalAlpha = 1;
  }

  /** Returns the possible labels of a box, best first. */
  private candidates(profile: Profile, item: Item): string[] {
    if (item.merged) return [mergedLabel(profile, item), '\u2026'];
    const frame = profile.frame[item.first]!;
    if (frame < 0) return [profile.label(item.first), '\u2026'];
    return [profile.frames.label(frame), profile.frames.shortLabel(frame), profile.frames.methodLabel(frame)];
  }

  private fit(candidates: string[], room: number): string {
    for (const text of candidates) {
      if (text.length * 3 <= room && this.width(text) <= room) return text;
    }
    return this.cut(candidates[Math.min(1, candidates.length - 1)]!, room);
  }

  /** Returns the start of a text that does not fit, with an ellipsis, or nothing when less than two letters would be left. */
  private cut(text: string, room: number): string {
    const head = text.slice(0, 200);
    let letters = Math.floor((room / this.width(head)) * head.length);
    while (letters >= 2 && this.width(`${head.slice(0, letters)}\u2026`) > room) letters--;
    return letters < 2 ? '' : `${head.slice(0, letters)}\u2026`;
  }

  private width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size > 20_000) this.widths.clear();
      width = this.context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }
}

/** Returns `… 12 frames, 0.34 %` */
export function mergedLabel(profile: Profile, item: Pick<Item, 'count' | 'total'>): string {
  const frames = item.count === 1 ? '1 frame' : `${item.count} frames`;
  return `\u2026 ${frames}, ${formatPercent(item.total, profile.total[0]!)}`;
}
