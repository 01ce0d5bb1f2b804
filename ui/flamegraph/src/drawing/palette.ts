// SPDX-License-Identifier: Apache-2.0
// Colours. The kind decides the hue, and the class one of a few close shades, so that neighbours look different.
import { KINDS } from '../document/frames.ts';
import type { Profile } from '../document/profile.ts';
import type { Item } from '../document/rows.ts';

export const SHADES = 6;
/** Steps from less to more in a comparison; the middle one is no change. */
const STEPS = 17;
const FIRST_STEP = KINDS.length * SHADES;
/** How much of its colour a box above the zoomed one keeps. */
const FADE = 0.55;

/** Boxes are written as pixels: colours as they lie in ImageData. Text colours are CSS. */
export interface Palette {
  /** kind * SHADES + shade; behind them, for comparisons, from much less to much more. */
  fills: Uint32Array;
  fadedFills: Uint32Array;
  dimmed: number;
  fadedDimmed: number;
  match: number;
  fadedMatch: number;
  root: number;
  fadedRoot: number;
  merged: number;
  omitted: number;
  background: number;
  /** Legend colour by kind. */
  kinds: string[];
  /** Legend colours of a comparison: less, the same, more. */
  changes: string[];
  backgroundText: string;
  text: string;
  dimmedText: string;
  matchText: string;
}

type Rgb = [red: number, green: number, blue: number];

type Hue = [hue: number, saturation: number, lightness: number];

interface Plan {
  hues: Hue[];
  /** Lightness between two shades. */
  step: number;
  /** Less, the same, more. */
  changes: string[];
  colors: Record<'dimmed' | 'match' | 'root' | 'merged' | 'omitted' | 'background', string>;
  texts: Record<'text' | 'dimmedText' | 'matchText', string>;
}

// Hues: java, native, jvm, kernel, unknown. They also differ in lightness, for readers who confuse red and green.
const LIGHT: Plan = {
  hues: [
    [212, 62, 77],
    [42, 78, 68],
    [8, 66, 76],
    [172, 38, 66],
    [220, 8, 76],
  ],
  step: 1.7,
  changes: ['#4a83d6', '#e3e5e9', '#e2574c'],
  colors: { dimmed: '#e6e8ec', match: '#7a3ff2', root: '#d3d8e0', merged: '#c2c8d1', omitted: '#e9ecf0', background: '#ffffff' },
  texts: { text: '#14181f', dimmedText: '#6b7280', matchText: '#ffffff' },
};
const DARK: Plan = {
  hues: [
    [212, 42, 38],
    [40, 52, 34],
    [8, 40, 40],
    [172, 38, 30],
    [220, 7, 38],
  ],
  step: 1.5,
  changes: ['#3f78c9', '#3a404a', '#c2473d'],
  colors: { dimmed: '#262b34', match: '#a98bff', root: '#3a414d', merged: '#4a525f', omitted: '#2b313b', background: '#15181d' },
  texts: { text: '#eef1f6', dimmedText: '#8a93a3', matchText: '#14101f' },
};

function hexColor(text: string): Rgb {
  const value = parseInt(text.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function shadeColor([hue, saturation, lightness]: Hue, step: number, shade: number): Rgb {
  const h = (hue + (shade - SHADES / 2) * 2 + 360) % 360;
  const l = (lightness + (shade - SHADES / 2) * step) / 100;
  const a = (saturation / 100) * Math.min(l, 1 - l);
  const channel = (n: number) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

const pack = ([red, green, blue]: Rgb): number => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

/** Returns colours from the first over the second to the third. */
function between(ends: string[]): Rgb[] {
  const [less, same, more] = ends.map(hexColor) as [Rgb, Rgb, Rgb];
  return Array.from({ length: STEPS }, (_, step) => {
    const at = (step / (STEPS - 1)) * 2 - 1;
    const end = at < 0 ? less : more;
    return same.map((part, i) => Math.round(part + (end[i]! - part) * Math.abs(at))) as Rgb;
  });
}

function build({ hues, step, changes, colors, texts }: Plan): Palette {
  const background = hexColor(colors.background);
  const faded = (color: Rgb) => pack(color.map((part, i) => Math.round(part * FADE + background[i]! * (1 - FADE))) as Rgb);
  const shades = [...hues.flatMap((hue) => Array.from({ length: SHADES }, (_, shade) => shadeColor(hue, step, shade))), ...between(changes)];
  const color = (text: string) => pack(hexColor(text));
  const fadedColor = (text: string) => faded(hexColor(text));
  return {
    fills: Uint32Array.from(shades, pack),
    fadedFills: Uint32Array.from(shades, faded),
    dimmed: color(colors.dimmed),
    fadedDimmed: fadedColor(colors.dimmed),
    match: color(colors.match),
    fadedMatch: fadedColor(colors.match),
    root: color(colors.root),
    fadedRoot: fadedColor(colors.root),
    merged: color(colors.merged),
    omitted: color(colors.omitted),
    background: pack(background),
    kinds: hues.map((hue) => `rgb(${shadeColor(hue, step, SHADES / 2).join(' ')})`),
    changes,
    backgroundText: colors.background,
    ...texts,
  };
}

const PALETTES = { light: build(LIGHT), dark: build(DARK) };

export type Scheme = keyof typeof PALETTES;

export function palette(scheme: Scheme): Palette {
  return PALETTES[scheme];
}

/** Returns the scheme of the page around the element: `data-theme` on the root element, else the system's. */
export function currentScheme(): Scheme {
  const chosen = document.documentElement.dataset['theme'];
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Calls back whenever currentScheme may have changed; returns how to stop. */
export function onSchemeChange(callback: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const observer = new MutationObserver(callback);
  system.addEventListener('change', callback);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    system.removeEventListener('change', callback);
    observer.disconnect();
  };
}

/** Returns each box's colour by the change of its share, relative to the larger share. */
function changeFills(profile: Profile): Uint8Array | null {
  if (profile.sides === null) return null;
  const { before, after } = profile.sides;
  const scale = before[0]! > 0 ? after[0]! / before[0]! : 1;
  return Uint8Array.from(after, (now, box) => {
    const then = before[box]! * scale;
    const change = now === then ? 0 : (now - then) / Math.max(now, then);
    return FIRST_STEP + Math.round((change + 1) * ((STEPS - 1) / 2));
  });
}

/** Finds a box's colour by its frame's kind and class or, in a comparison, by its change. */
export class Fills {
  /** The colour + 1 of each frame; 0 = not computed yet. */
  private readonly byFrame: Uint8Array;
  private readonly byBox: Uint8Array | null;

  constructor(private readonly profile: Profile) {
    this.byFrame = new Uint8Array(profile.frameCount);
    this.byBox = changeFills(profile);
  }

  /** Returns the index in Palette.fills for a box with a frame. */
  of(box: number): number {
    if (this.byBox !== null) return this.byBox[box]!;
    const frame = this.profile.frame[box]!;
    const { frames } = this.profile;
    return (this.byFrame[frame] ||= frames.kind(frame) * SHADES + (hash(frames.cls(frame)) % SHADES) + 1) - 1;
  }

  /** Returns the colour of an item, which is one or many boxes, without a search. */
  color(item: Item, { fills, merged, omitted, root }: Palette): number {
    if (item.merged) return merged;
    if (this.profile.isOmitted(item.first)) return omitted;
    return this.profile.frame[item.first]! < 0 ? root : fills[this.of(item.first)]!;
  }
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}
