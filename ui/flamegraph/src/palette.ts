// Colours. Kind gives the hue, the class gives one of a few close shades so that neighbours can be told apart.
import type { Profile } from './profile.ts';

export const SHADES = 6;

export interface Palette {
  /** kind * SHADES + shade. */
  fills: string[];
  /** Legend colour by kind. */
  kinds: string[];
  text: string;
  dimmed: string;
  dimmedText: string;
  match: string;
  matchText: string;
  root: string;
  merged: string;
  omitted: string;
  outline: string;
  background: string;
}

interface Hue {
  hue: number;
  saturation: number;
  lightness: number;
}

// java, native, jvm, kernel, unknown. Told apart by lightness too where red and green are not.
const LIGHT: Hue[] = [
  { hue: 212, saturation: 62, lightness: 77 },
  { hue: 42, saturation: 78, lightness: 68 },
  { hue: 8, saturation: 66, lightness: 76 },
  { hue: 172, saturation: 38, lightness: 66 },
  { hue: 220, saturation: 8, lightness: 76 },
];
const DARK: Hue[] = [
  { hue: 212, saturation: 42, lightness: 38 },
  { hue: 40, saturation: 52, lightness: 34 },
  { hue: 8, saturation: 40, lightness: 40 },
  { hue: 172, saturation: 38, lightness: 30 },
  { hue: 220, saturation: 7, lightness: 38 },
];

function build(hues: Hue[], step: number, rest: Omit<Palette, 'fills' | 'kinds'>): Palette {
  const color = ({ hue, saturation, lightness }: Hue, shade: number) =>
    `hsl(${hue + (shade - SHADES / 2) * 2} ${saturation}% ${lightness + (shade - SHADES / 2) * step}%)`;
  return {
    fills: hues.flatMap((hue) => Array.from({ length: SHADES }, (_, shade) => color(hue, shade))),
    kinds: hues.map((hue) => color(hue, SHADES / 2)),
    ...rest,
  };
}

const PALETTES = {
  light: build(LIGHT, 1.7, {
    text: '#14181f',
    dimmed: '#e6e8ec',
    dimmedText: '#6b7280',
    match: '#7a3ff2',
    matchText: '#ffffff',
    root: '#d3d8e0',
    merged: '#c2c8d1',
    omitted: '#e9ecf0',
    outline: '#14181f',
    background: '#ffffff',
  }),
  dark: build(DARK, 1.5, {
    text: '#eef1f6',
    dimmed: '#262b34',
    dimmedText: '#8a93a3',
    match: '#a98bff',
    matchText: '#14101f',
    root: '#3a414d',
    merged: '#4a525f',
    omitted: '#2b313b',
    outline: '#f5f7fa',
    background: '#15181d',
  }),
};

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
