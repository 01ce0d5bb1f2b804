// SPDX-License-Identifier: Apache-2.0
// The built app in a browser with a backend of its own for each test.
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { launchBrowser, openPage, type Browser } from '../../tests/browser.ts';
import { MockBackend, TOKEN } from './mock.ts';

export let browser: Browser;
export let backend: MockBackend;
export let origin: string;
export let page: Page;
export let complaints: string[];

/** Serves the app to the tests. Call it once in a file of tests. */
export function serveApp(): void {
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
  });
  beforeEach(async () => {
    backend = new MockBackend();
    origin = await backend.start();
    ({ page, complaints } = await openPage(browser.context, [origin]));
  });
  afterEach(async () => {
    await page.close();
    await browser.context.clearCookies();
    await backend.stop();
  });
}

export const SERVICE = '/services/shop/checkout?cluster=local';

/** Opens a page of the app with a session. */
export async function enter(address: string): Promise<void> {
  const response = await browser.context.request.post(`${origin}/v1/session`, { data: { token: TOKEN } });
  expect(response.status()).toBe(204);
  await page.goto(origin + address);
}

export const address = () => new URL(page.url());

/** Waits until `read` gives `value`: what goes by way of the address takes a moment. */
export const eventually = <T>(read: () => T | Promise<T>, value: T) => expect.poll(read, { timeout: 30_000 }).toEqual(value);
