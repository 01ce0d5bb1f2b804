// SPDX-License-Identifier: Apache-2.0
// Shared by the drivers of pages. A browser that has just started loads parts of its own window for half a second, which costs as much
// CPU time as a page of 200,000 nodes: nothing is measured before it is idle.
import { createRequire } from 'node:module';

export const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'];
/** At rest: for so many looks, so far apart, its processes did less than this. Milliseconds, but the CPU time is seconds. */
const LOOK = 100;
const LOOKS = 3;
const LITTLE = 0.01;
const MOST_LOOKS = 100;

const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** `send` asks the browser by its protocol. */
export async function settle(send) {
  const spent = async () => (await send('SystemInfo.getProcessInfo')).processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  let before = await spent();
  for (let looks = 0, quiet = 0; quiet < LOOKS; looks++) {
    if (looks === MOST_LOOKS) throw new Error('the browser does not come to rest');
    await sleep(LOOK);
    const now = await spent();
    quiet = now - before < LITTLE ? quiet + 1 : 0;
    before = now;
  }
}

/** A browser of its own with an empty page, at rest. */
export async function freshPage(playwright, executablePath) {
  const { chromium } = createRequire(`${playwright}/`)('playwright-core');
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const session = await browser.newBrowserCDPSession();
  await settle((method) => session.send(method));
  await session.detach();
  return { browser, page };
}

/** Runs in the page: waits until it has drawn its graph, if it is one of Hotstack, and makes the browser draw no frame for that. */
export function graphShown() {
  const isShown = () => document.querySelector('[data-shown]') !== null;
  if (document.getElementById('hotstack-data') === null || isShown()) return Promise.resolve();
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => isShown() && resolve(observer.disconnect()));
    observer.observe(document, { subtree: true, childList: true, attributeFilter: ['data-shown'] });
  });
}

/** Opens a file, and runs a function in the page as soon as it shows its graph. */
export async function opened(page, url, report) {
  await page.goto(url, { waitUntil: 'commit' });
  await page.waitForLoadState('domcontentloaded');
  return page.evaluate(`(${graphShown})().then(${report})`);
}
