// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. Exact figures stay decimal strings and are never formatted here.

const TIME: [number, string][] = [
  [3600e9, 'h'],
  [60e9, 'min'],
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, '\u00b5s'],
  [1, 'ns'],
];
const BYTES: [number, string][] = [
  [2 ** 50, 'PiB'],
  [2 ** 40, 'TiB'],
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
  [2 ** 10, 'KiB'],
  [1, 'B'],
];
const COUNT: [number, string][] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
];

/** Formats a number with three significant digits, never with an exponent or trailing zeros. */
function threeDigits(value: number): string {
  if (value >= 100) return String(Math.round(value));
  const digits = value >= 10 ? 1 : 2;
  return value.toFixed(digits).replace(/\.?0+$/, '');
}

function scaled(value: number, steps: [number, string][]): string {
  for (const [size, name] of steps) {
    if (value >= size) return `${threeDigits(value / size)} ${name}`;
  }
  const [, smallest] = steps[steps.length - 1]!;
  return `${threeDigits(value)} ${smallest}`;
}

/** Returns `1.23 s`, `45.6 MiB`, `1,234`: `value` in `unit` (`ns`, `bytes`, `count`; an unknown unit follows the number). */
export function formatValue(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '?';
  if (unit === 'ns') return scaled(value, TIME);
  if (unit === 'bytes') return scaled(value, BYTES);
  const number = value >= 1e6 ? scaled(value, COUNT) : groupDigits(String(Math.round(value)));
  return unit === 'count' ? number : `${number} ${unit}`;
}

/** Returns a decimal string in `unit`, for people; show the exact string beside it. */
export function formatDecimal(decimal: string, unit: string): string {
  return formatValue(Number(decimal), unit);
}

/** Writes `12345678` as `12,345,678`. Works on strings, so no digit is lost. */
export function groupDigits(decimal: string): string {
  return decimal.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Returns `12.3 %`. A share above zero is never shown as zero, one below the whole never as the whole. */
export function formatPercent(part: number, whole: number): string {
  if (!(whole > 0)) return '0 %';
  const percent = (part / whole) * 100;
  if (percent <= 0) return '0 %';
  if (percent < 0.01) return '< 0.01 %';
  if (percent >= 99.995) return part < whole ? '> 99.99 %' : '100 %';
  return `${percent.toFixed(percent < 10 ? 2 : percent < 99.95 ? 1 : 2)} %`;
}

const TYPE_NAMES = new Map([
  ['cpu', 'CPU time'],
  ['alloc_bytes', 'Allocated bytes'],
  ['alloc_objects', 'Allocated objects'],
  ['lock_delay', 'Lock waiting time'],
  ['lock_count', 'Lock contentions'],
  ['wall', 'Wall time'],
  ['live_bytes', 'Live bytes'],
  ['nativemem_bytes', 'Native memory'],
  ['events', 'Counted events'],
  ['trace_count', 'Traced calls'],
  ['trace_time', 'Time of traced calls'],
]);

/** Returns a profile type's name for people; a type that this version does not know keeps its name. */
export function typeName(type: string): string {
  return TYPE_NAMES.get(type) ?? type;
}
