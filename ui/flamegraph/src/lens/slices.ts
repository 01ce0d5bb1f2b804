// SPDX-License-Identifier: Apache-2.0
// Runs long work in slices that are short enough for the page to respond between them.

/** The longest slice, ms; the work yields where it can be interrupted. */
const SLICE = 8;

/** Runs a first slice at once, and the rest from timers; `done` gets the result. Returns a function that stops it. */
export function inSlices<T>(work: Iterator<unknown, T>, done: (result: T) => void): () => void {
  let timer = 0;
  const go = () => {
    const end = performance.now() + SLICE;
    for (let step = work.next(); ; step = work.next()) {
      if (step.done) return done(step.value);
      if (performance.now() >= end) break;
    }
    timer = setTimeout(go) as unknown as number;
  };
  go();
  return () => clearTimeout(timer);
}
