// SPDX-License-Identifier: Apache-2.0
// Reads the facts about the recording from the document's "meta". It is as hostile as the rest: values of another shape are skipped.
import { formatDecimal } from '../format.ts';
import { shorten, visibleText } from '../text.ts';

const MAX_TEXT = 2000;
const MAX_NOTES = 50;

export interface RecordingInfo {
  title: string;
  /** Names and values, ready to show. */
  facts: [name: string, value: string][];
  /** What was lost or damaged, a sentence each. */
  notes: string[];
}

const LOSSES = new Map([
  ['chunks_lost', 'chunks lost'],
  ['chunks_partial', 'chunks read in part'],
  ['bytes_lost', 'bytes not read'],
  ['bad_events', 'events that could not be read'],
  ['bad_stacks', 'stacks that could not be read'],
  ['stackless_samples', 'samples without a stack'],
  ['unmeasured_events', 'events without a measure'],
]);

function text(value: unknown): string {
  return typeof value === 'string' ? shorten(visibleText(value), MAX_TEXT) : '';
}

function entries(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** Returns `2026-01-31 09:15:00.120 UTC` for nanoseconds in a decimal string, or an empty string. */
function time(value: unknown): string {
  const date = new Date(typeof value === 'string' && /^\d{1,19}$/.test(value) ? Number(value) / 1e6 : 0);
  return date.getTime() > 0 ? date.toISOString().replace('T', ' ').replace('Z', ' UTC') : '';
}

/** Returns an interval's unit by its profile type: bytes, time, or a plain number for a type that is not known here. */
function intervalUnit(type: string): string {
  if (/_bytes$|^alloc_/.test(type)) return 'bytes';
  return /^(cpu|wall|lock_.*)$/.test(type) ? 'ns' : 'count';
}

function intervals(value: unknown): string {
  const known = entries(value).filter(([, interval]) => typeof interval === 'string' && /^\d{1,19}$/.test(interval));
  return known.map(([type, interval]) => `${visibleText(type)} ${formatDecimal(interval as string, intervalUnit(type))}`).join(', ');
}

function losses(value: unknown): string {
  const known = entries(value).filter(([key, count]) => LOSSES.has(key) && typeof count === 'number' && count > 0);
  return known.map(([key, count]) => `${LOSSES.get(key)}: ${count as number}`).join(', ');
}

export function recordingInfo(meta: Record<string, unknown>): RecordingInfo {
  const said = meta['notes'];
  const facts: [string, string][] = [
    ['From', time(meta['start_ns'])],
    ['To', time(meta['end_ns'])],
    ['JVM', text(meta['jvm_version'])],
    ['Program', text(meta['java_args'])],
    ['Engine', text(meta['engine'])],
    ['Intervals', intervals(meta['intervals'])],
    ['Left out', losses(meta['loss'])],
    ['Made by', text(meta['generator'])],
  ];
  const notes = Array.isArray(said) ? said.slice(0, MAX_NOTES).map(text) : [];
  return {
    title: text(meta['title']),
    facts: facts.filter(([, value]) => value !== ''),
    notes: notes.filter((note) => note !== ''),
  };
}
