// SPDX-License-Identifier: Apache-2.0
// Debian's Chromium by playwright-core, from the packages that the UI was built with.
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, chromium as executablePath } from './parts.mjs';
import { patience } from './process.mjs';

const { chromium } = createRequire(join(build, 'ui/stage/package.json'))('playwright-core');

// A page, the errors that it reports, and what closes everything.
export async function openPage({ viewport = { width: 1400, height: 900 }, colorScheme = 'light' } = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'hotstack-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    viewport,
    colorScheme,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  context.setDefaultTimeout(patience * 1000);
  const errors = [];
  const page = context.pages()[0] ?? (await context.newPage());
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  const close = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { page, errors, close };
}

// Opens a page, runs `use(page, errors)`, closes everything.
export async function withPage(use, options = {}) {
  const { page, errors, close } = await openPage(options);
  try {
    return await use(page, errors);
  } finally {
    await close();
  }
}
