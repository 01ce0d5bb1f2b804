// SPDX-License-Identifier: Apache-2.0
// Tests of one file that share a stack: whether one failed decides whether the stack's files are kept.
import { test } from 'node:test';

// `step(name, body)` is a test; `failed()` says whether one failed so far.
export function steps(skip) {
  let failed = false;
  const step = (name, body) =>
    test(name, { skip }, async (t) => {
      try {
        await body(t);
      } catch (error) {
        failed = true;
        throw error;
      }
    });
  return { step, failed: () => failed };
}
