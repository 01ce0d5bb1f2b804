// SPDX-License-Identifier: Apache-2.0
// The time range as it stands in the address: `range=1h` (ends now, moves on) or `from=...&to=...` (RFC 3339, stands still).

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const PRESETS = { '5m': 5 * MINUTE, '15m': 15 * MINUTE, '1h': HOUR, '6h': 6 * HOUR, '24h': DAY, '7d': 7 * DAY } as const;
export type Preset = keyof typeof PRESETS;

export const DEFAULT_PRESET: Preset = '15m';
/** Ends of moving ranges are rounded down to this. */
const STEP = 10_000;

export type TimeRange = { preset: Preset } | { from: number; to: number };

export const isMoving = (range: TimeRange): range is { preset: Preset } => 'preset' in range;

function isPreset(text: string | null): text is Preset {
  return text !== null && Object.hasOwn(PRESETS, text);
}

function parseTime(text: string | null): number {
  if (text === null) return NaN;
  return /^\d{1,16}$/.test(text) ? Number(text) : Date.parse(text);
}

/** Reads the range of an address; an invalid one counts as the default. */
export function parseRange(search: URLSearchParams): TimeRange {
  const from = parseTime(search.get('from'));
  const to = parseTime(search.get('to'));
  if (Number.isFinite(from) && Number.isFinite(to) && from < to) return { from, to };
  const preset = search.get('range');
  return { preset: isPreset(preset) ? preset : DEFAULT_PRESET };
}

/** Writes the range into `search`, in place of whichever stood there. */
export function writeRange(search: URLSearchParams, range: TimeRange): void {
  for (const key of ['range', 'from', 'to']) search.delete(key);
  if (isMoving(range)) search.set('range', range.preset);
  else {
    search.set('from', new Date(range.from).toISOString());
    search.set('to', new Date(range.to).toISOString());
  }
}

/** Returns a stable name of the range, the same while a moving one moves. */
export function rangeKey(range: TimeRange): string {
  return isMoving(range) ? range.preset : `${range.from}-${range.to}`;
}

/** Returns the times of the range at `now`, in the form of the API. */
export function resolveRange(range: TimeRange, now: number): { from: number; to: number } {
  if (!isMoving(range)) return { from: range.from, to: range.to };
  const to = Math.ceil(now / STEP) * STEP;
  return { from: to - PRESETS[range.preset], to };
}

export function rangeLength(range: TimeRange): number {
  return isMoving(range) ? PRESETS[range.preset] : range.to - range.from;
}

/** Returns the interval between refreshes, in ms; false = the range is in the past and late data has had its time. */
export function refreshInterval(range: TimeRange, now: number): number | false {
  if (!isMoving(range)) return range.to > now - 5 * MINUTE ? 10_000 : false;
  const length = PRESETS[range.preset];
  if (length <= 15 * MINUTE) return 5_000;
  return length <= 6 * HOUR ? 10_000 : 30_000;
}

/** Returns `2026-01-31 09:15:00` in the browser's time zone. */
export function formatTime(time: number | string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(time);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Returns `09:15:00` on the day of `now`, else with the day. */
export function formatMoment(time: string, now: number): string {
  const text = formatTime(time);
  return text.slice(0, 10) === formatTime(now).slice(0, 10) ? text.slice(11) : text;
}

/** Returns `12 s ago`, `3 min ago`, `2 h ago`, `5 d ago`. */
export function formatAgo(time: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  if (Number.isNaN(seconds)) return '';
  if (seconds < 90) return `${seconds} s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} d ago`;
}
