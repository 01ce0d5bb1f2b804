// SPDX-License-Identifier: Apache-2.0
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  cacheDir: '.vite',
  resolve: { alias: { '@hotstack/flamegraph': fileURLToPath(new URL('flamegraph/src/index.ts', import.meta.url)) } },
  test: { include: ['flamegraph/tests/*.test.ts', 'app/tests/*.test.ts', 'app/tests/*.test.tsx'] },
});
