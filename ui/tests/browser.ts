// SPDX-License-Identifier: Apache-2.0
// Headless Chromium for the smoke tests, with a user-data-dir of its own and everything that phones home switched off.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Browser {
  context: BrowserContext;
  close(): Promise<void>;
}

export async function launchBrowser(): Promise<Browser> {
  const directory = mkdtempSync(path.join(tmpdir(), 'hotstack-ui-'));
  const context = await chromium.launchPersistentContext(directory, {
    executablePath: process.env['HOTSTACK_CHROMIUM'] ?? '/usr/bin/chromium',
    args: FLAGS,
    viewport: { width: 1280, height: 800 },
    timezoneId: 'UTC',
  });
  return {
    context,
    close: async () => {
      await context.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface Watched {
  page: Page;
  /** Uncaught errors, console errors (policy violations among them) and requests that left the page's own origin. */
  complaints: string[];
}

/** Opens a page and keeps all its complaints. `allowed` are the addresses that it may request, by prefix. */
export async function openPage(context: BrowserContext, allowed: string[]): Promise<Watched> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!allowed.some((prefix) => request.url().startsWith(prefix))) complaints.push(`request: ${request.url()}`);
  });
  return { page, complaints };
}

/** Violations that axe finds, one line each. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(await axeSource());
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`);
  });
  return found;
}

async function axeSource(): Promise<string> {
  return (createRequire(import.meta.url)('axe-core') as { source: string }).source;
}

/** Saves a screenshot for people, when HOTSTACK_SCREENSHOTS names a directory. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const directory = process.env['HOTSTACK_SCREENSHOTS'];
  if (directory !== undefined) await page.screenshot({ path: path.join(directory, `${name}.png`) });
}
