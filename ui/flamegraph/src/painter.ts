// Draws the visible rows on a 2D canvas. Work is bounded by what is on the screen.
import { formatPercent } from './format.ts';
import { type Palette } from './palette.ts';
import type { Profile } from './profile.ts';
import { visitRow, type Item, type Span } from './rows.ts';

export const ROW_HEIGHT = 18;
export type Mode = 'icicle' | 'flame';

const FONT = '12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
const PADDING = 5;
const MIN_TEXT_WIDTH = 22;

export interface Scene {
  profile: Profile;
  fills: Uint8Array;
  palette: Palette;
  mode: Mode;
  span: Span;
  /** The zoomed box: boxes above it are drawn faded. */
  zoomed: number;
  /** The deepest row that is shown. */
  deepest: number;
  matches: Uint8Array | null;
  /** Box with the keyboard's focus, and box under the mouse; -1 = none. */
  active: number;
  hover: number;
  focused: boolean;
  scrollTop: number;
  height: number;
}

/** Top of a row in the scene, in CSS pixels below the canvas' top. */
export function rowTop(scene: Pick<Scene, 'mode' | 'deepest' | 'scrollTop'>, row: number): number {
  const index = scene.mode === 'icicle' ? row : scene.deepest - row;
  return index * ROW_HEIGHT - scene.scrollTop;
}

/** The row at `y`; may be out of range. */
export function rowAt(scene: Pick<Scene, 'mode' | 'deepest' | 'scrollTop'>, y: number): number {
  const index = Math.floor((y + scene.scrollTop) / ROW_HEIGHT);
  return scene.mode === 'icicle' ? index : scene.deepest - index;
}

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private readonly widths = new Map<string, number>();

  constructor(canvas: HTMLCanvasElement) {
    const context = canvas.getContext('2d', { alpha: false });
    if (context === null) throw new Error('this browser has no 2D canvas');
    this.context = context;
  }

  /** Sizes the canvas for the screen's density. */
  resize(width: number, height: number): void {
    const { canvas } = this.context;
    const density = devicePixelRatio || 1;
    const pixelWidth = Math.max(1, Math.round(width * density));
    const pixelHeight = Math.max(1, Math.round(height * density));
    if (canvas.width !== pixelWidth) canvas.width = pixelWidth;
    if (canvas.height !== pixelHeight) canvas.height = pixelHeight;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    this.context.setTransform(density, 0, 0, density, 0, 0);
  }

  paint(scene: Scene): void {
    const { context } = this;
    context.fillStyle = scene.palette.background;
    context.fillRect(0, 0, scene.span.width, scene.height);
    context.font = FONT;
    context.textBaseline = 'middle';
    context.direction = 'ltr';
    if (scene.profile.total[0] === 0) return;
    const edges = [rowAt(scene, 0), rowAt(scene, scene.height)];
    const from = Math.max(0, Math.min(...edges));
    const to = Math.min(scene.deepest, Math.max(...edges));
    for (let row = from; row <= to; row++) {
      const top = rowTop(scene, row);
      visitRow(scene.profile, row, scene.span, (item) => this.paintItem(scene, item, top));
    }
    this.outline(scene, scene.hover, 1);
    if (scene.focused) this.outline(scene, scene.active, 2);
  }

  private paintItem(scene: Scene, item: Item, top: number): void {
    const { context } = this;
    const width = item.right - item.left;
    // A hairline of background between boxes, where there is room for it.
    const gap = width > 3 ? 1 : 0;
    context.fillStyle = this.fill(scene, item);
    context.globalAlpha = this.isAncestor(scene, item) ? 0.55 : 1;
    context.fillRect(item.left, top, Math.max(width - gap, 0.5), ROW_HEIGHT - 1);
    if (width >= MIN_TEXT_WIDTH) this.paintText(scene, item, top);
    context.globalAlpha = 1;
  }

  private isAncestor({ profile, zoomed }: Scene, item: Item): boolean {
    return !item.merged && profile.depth[item.first]! < profile.depth[zoomed]!;
  }

  private fill({ profile, palette, fills, matches }: Scene, item: Item): string {
    if (item.merged) return this.mergedMatch(profile, matches, item) ? palette.match : palette.merged;
    if (profile.isOmitted(item.first)) return palette.omitted;
    const frame = profile.frame[item.first]!;
    if (frame < 0) return palette.root;
    if (matches === null) return palette.fills[fills[frame]!]!;
    return matches[frame] === 1 ? palette.match : palette.dimmed;
  }

  /** Whether a merged block hides a match; a block of very many boxes is looked at in part only. */
  private mergedMatch(profile: Profile, matches: Uint8Array | null, item: Item): boolean {
    if (matches === null) return false;
    const boxes = profile.rowBoxes.subarray(item.index, item.index + Math.min(item.count, 2000));
    return boxes.some((box) => profile.frame[box]! >= 0 && matches[profile.frame[box]!] === 1);
  }

  private paintText(scene: Scene, item: Item, top: number): void {
    const { context } = this;
    const { palette, profile, matches } = scene;
    const frame = item.merged ? -1 : profile.frame[item.first]!;
    const plain = frame < 0 || matches === null;
    context.fillStyle = plain ? palette.text : matches[frame] === 1 ? palette.matchText : palette.dimmedText;
    const room = item.right - item.left - 2 * PADDING;
    const text = this.fit(this.candidates(profile, item), room);
    if (text !== '') context.fillText(text, item.left + PADDING, top + ROW_HEIGHT / 2);
  }

  /** What may stand in the box, best first. */
  private candidates(profile: Profile, item: Item): string[] {
    if (item.merged) return [mergedLabel(profile, item), '\u2026'];
    const frame = profile.frame[item.first]!;
    if (frame < 0) return [profile.label(item.first), '\u2026'];
    return [profile.frameLabel(frame), profile.frameShortLabel(frame), profile.frameMethod(frame)];
  }

  private fit(candidates: string[], room: number): string {
    for (const text of candidates) {
      if (text.length * 3 <= room && this.width(text) <= room) return text;
    }
    return this.cut(candidates[Math.min(1, candidates.length - 1)]!, room);
  }

  /** The beginning of a text that does not fit, with an ellipsis; nothing when less than two letters would be left. */
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

  private outline(scene: Scene, box: number, thickness: number): void {
    if (box < 0) return;
    const { profile, span } = scene;
    const scale = span.width / (span.x1 - span.x0);
    const left = Math.max(0, (profile.start[box]! - span.x0) * scale);
    const right = Math.min(span.width, (profile.start[box]! + profile.total[box]! - span.x0) * scale);
    if (right < 0 || left > span.width || right < left) return;
    const { context } = this;
    const inset = thickness / 2;
    context.strokeStyle = scene.palette.outline;
    context.lineWidth = thickness;
    context.strokeRect(
      left + inset,
      rowTop(scene, profile.depth[box]!) + inset,
      Math.max(right - left - 2 * inset, 1),
      ROW_HEIGHT - 1 - 2 * inset,
    );
  }
}

/** `… 12 frames, 0.34 %` */
export function mergedLabel(profile: Profile, item: Pick<Item, 'count' | 'total'>): string {
  const frames = item.count === 1 ? '1 frame' : `${item.count} frames`;
  return `\u2026 ${frames}, ${formatPercent(item.total, profile.total[0]!)}`;
}
