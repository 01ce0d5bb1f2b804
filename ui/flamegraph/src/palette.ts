// Colours. Kind gives the hue, the class gives one of a few close shades so that neighbours can be told apart.
import type { Profile } from './profile.ts';

export const SHADES = 6;
/** How much of its colour a box above the zoomed one keeps. */
const FADE = 0.55;

/** Boxes are written as pixels: colours as they lie in ImageData. Text colours are CSS. */
export interface Palette {
  /** kind * SHADES + shade. */
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
  backgroundText: string;
  text: string;
  dimmedText: string;
  matchText: string;
}

type Rgb = [red: number, green: number, blue: number];

interface Hue {
  hue: number;
  saturation: number;
  lightness: number;
}

interface Plan {
  hues: Hue[];
  /** Lightness between two shades. */
  step: number;
  colors: Record<'dimmed' | 'match' | 'root' | 'merged' | 'omitted' | 'background', string>;
  texts: Record<'text' | 'dimmedText' | 'matchText', string>;
}

// Hues: java, native, jvm, kernel, unknown. Told apart by lightness too where red and green are not.
const LIGHT: Plan = {
  hues: [
    { hue: 212, saturation: 62, lightness: 77 },
    { hue: 42, saturation: 78, lightness: 68 },
    { hue: 8, saturation: 66, lightness: 76 },
    { hue: 172, saturation: 38, lightness: 66 },
    { hue: 220, saturation: 8, lightness: 76 },
  ],
  step: 1.7,
  colors: { dimmed: '#e6e8ec', match: '#7a3ff2', root: '#d3d8e0', merged: '#c2c8d1', omitted: '#e9ecf0', background: '#ffffff' },
  texts: { text: '#14181f', dimmedText: '#6b7280', matchText: '#ffffff' },
};
const DARK: Plan = {
  hues: [
    { hue: 212, saturation: 42, lightness: 38 },
    { hue: 40, saturation: 52, lightness: 34 },
    { hue: 8, saturation: 40, lightness: 40 },
    { hue: 172, saturation: 38, lightness: 30 },
    { hue: 220, saturation: 7, lightness: 38 },
  ],
  step: 1.5,
  colors: { dimmed: '#262b34', match: '#a98bff', root: '#3a414d', merged: '#4a525f', omitted: '#2b313b', background: '#15181d' },
  texts: { text: '#eef1f6', dimmedText: '#8a93a3', matchText: '#14101f' },
};

function hexColor(text: string): Rgb {
  const value = parseInt(text.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function shadeColor({ hue, saturation, lightness }: Hue, step: number, shade: number): Rgb {
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

function build({ hues, step, colors, texts }: Plan): Palette {
  const background = hexColor(colors.background);
  const faded = (color: Rgb) => pack(color.map((part, i) => Math.round(part * FADE + background[i]! * (1 - FADE))) as Rgb);
  const shades = hues.flatMap((hue) => Array.from({ length: SHADES }, (_, shade) => shadeColor(hue, step, shade)));
  const color = (name: keyof Plan['colors']) => pack(hexColor(colors[name]));
  const fadedColor = (name: keyof Plan['colors']) => faded(hexColor(colors[name]));
  return {
    fills: Uint32Array.from(shades, pack),
    fadedFills: Uint32Array.from(shades, faded),
    dimmed: color('dimmed'),
    fadedDimmed: fadedColor('dimmed'),
    match: color('match'),
    fadedMatch: fadedColor('match'),
    root: color('root'),
    fadedRoot: fadedColor('root'),
    merged: color('merged'),
    omitted: color('omitted'),
    background: pack(background),
    kinds: hues.map((hue) => `rgb(${shadeColor(hue, step, SHADES / 2).join(' ')})`),
    backgroundText: colors.background,
    ...texts,
  };
}

const PALETTES = { light: build(LIGHT), dark: build(DARK) };

export type Scheme = keyof typeof PALETTES;

export function palette(scheme: Scheme): Palette {
  return PALETTES[scheme];
}

/** The scheme of the page around the element: `data-theme` on the root element, else the system's. */
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

/** By frame: index into Palette.fills. */
export function frameFills(profile: Profile): Uint8Array {
  const fills = new Uint8Array(profile.frameCount);
  for (let frame = 0; frame < fills.length; frame++) {
    fills[frame] = profile.frameKind(frame) * SHADES + (hash(profile.frameClass(frame)) % SHADES);
  }
  return fills;
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}
