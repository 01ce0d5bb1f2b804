// SPDX-License-Identifier: Apache-2.0
// The selected part of a profile: thread, focus, removed frames and so on. It uses names, so that it fits into an address and also
// applies to the next profile.
import type { Frames } from '../document/frames.ts';
import { NO_TRANSFORM, type Transform } from './transform.ts';

export interface Lens {
  /** '' = as recorded, 'all' = threads together, else a thread's frame key. */
  thread: string;
  /** Keys of frames (Frames.key). */
  remove: string[];
  fold: boolean;
  focus: string;
  sandwich: string;
  reverse: boolean;
}

export const NO_LENS: Lens = { thread: '', remove: [], fold: false, focus: '', sandwich: '', reverse: false };

const WORDS = ['thread', 'focus', 'sandwich'] as const;

/** Writes the lens into an address's parameters and deletes those that are not set. */
export function writeLens(to: URLSearchParams, lens: Lens): void {
  const set = (name: string, value: string) => (value === '' ? to.delete(name) : to.set(name, value));
  for (const name of WORDS) set(name, lens[name]);
  set('fold', lens.fold ? '1' : '');
  set('reverse', lens.reverse ? '1' : '');
  to.delete('remove');
  for (const key of lens.remove) to.append('remove', key);
}

export function readLens(from: URLSearchParams): Lens {
  const get = (name: string) => from.get(name) ?? '';
  return { thread: get('thread'), focus: get('focus'), sandwich: get('sandwich'), fold: get('fold') === '1', reverse: get('reverse') === '1', remove: from.getAll('remove') };
}

/** Returns the transform of a lens; frames that are not in the document are skipped. */
export function transformOf(lens: Lens, frames: Frames): Transform {
  const thread = lens.thread === '' || lens.thread === 'all' ? -1 : frames.find(lens.thread);
  const sandwich = lens.sandwich;
  const focus = sandwich !== '' ? sandwich : lens.focus;
  return {
    ...NO_TRANSFORM,
    thread: lens.thread === 'all' ? 'all' : thread < 0 ? '' : String(thread),
    remove: lens.remove.map((key) => frames.find(key)).filter((frame) => frame >= 0),
    fold: lens.fold,
    focus: focus === '' ? -1 : frames.find(focus),
    reverse: lens.reverse && sandwich === '',
  };
}

/** Returns the transform of the other half of a sandwich. */
export function callersOf(transform: Transform): Transform {
  return { ...transform, focus: -1, callers: transform.focus };
}
