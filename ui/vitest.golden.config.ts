// SPDX-License-Identifier: Apache-2.0
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Pictures of the built pages, compared with those that are kept.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  cacheDir: '.vite',
  test: { include: ['*/tests/*.golden.ts'], fileParallelism: false, testTimeout: 120_000, hookTimeout: 120_000 },
});
