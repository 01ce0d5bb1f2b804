// SPDX-License-Identifier: Apache-2.0
// Work that may be long, in slices short enough for the page to answer between them.

/** At most this long at a time, ms; the work says by a yield where it may be left. */
const SLICE = 8;

/** Does a first slice at once, and the rest from timers; `done` gets the result. Gives back what stops it. */
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
