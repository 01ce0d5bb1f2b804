// SPDX-License-Identifier: Apache-2.0
// Prints the content of a page with pages in frames, as JSON: notebook.mjs PACKAGES FILE TEXT
// Waits in each frame until a flame graph is drawn, then searches it for TEXT.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages, file, text] = process.argv.slice(2);
const { chromium } = createRequire(path.join(packages, 'node_modules', 'x.js'))('playwright-core');
const executablePath = process.env.HOTSTACK_CHROMIUM ?? '/usr/bin/chromium';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage();
const complaints = [];
page.on('pageerror', (error) => complaints.push(error.message));
page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
await page.goto(pathToFileURL(file).href);
const frames = [];
for (const element of await page.locator('iframe').all()) {
  const frame = element.contentFrame();
  await frame.locator('[data-testid="flamegraph"][data-nodes], [data-testid="problem"]').waitFor();
  await frame.getByTestId('search-input').fill(text);
  frames.push({
    nodes: Number(await frame.getByTestId('flamegraph').getAttribute('data-nodes')),
    matched: await frame.getByTestId('matched-percent').textContent(),
  });
}
await browser.close();
console.log(JSON.stringify({ frames, complaints }));
