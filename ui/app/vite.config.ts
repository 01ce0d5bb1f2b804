// SPDX-License-Identifier: Apache-2.0
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = process.env['HOTSTACK_UI_OUT'] ?? path.join(here, '..', 'dist');

export default defineConfig({
  root: here,
  cacheDir: path.join(out, '.vite'),
  plugins: [react()],
  resolve: { alias: { '@hotstack/flamegraph': path.join(here, '..', 'flamegraph', 'src', 'index.ts') } },
  build: {
    outDir: path.join(out, 'app'),
    emptyOutDir: true,
    target: 'es2022',
    cssTarget: 'chrome123',
    // The backend's policy is default-src 'self': nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.txt' },
  },
  server: { proxy: { '/v1': process.env['HOTSTACK_BACKEND'] ?? 'http://127.0.0.1:8080' } },
});
