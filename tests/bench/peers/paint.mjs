// SPDX-License-Identifier: Apache-2.0
// How soon pages show their graph in headless Chromium. Usage: paint.mjs CHROMIUM ROUNDS FILE...
// Prints a JSON object: by file, a list of [first paint, graph]: milliseconds from the start of navigation to Chromium's first paint
// with content, and to the frame that has the graph. Files take turns, each in a browser of its own, so that nothing is warm. Pages
// of Hotstack say when they have drawn (data-shown); jfrconv's draw while they are loaded.
import { pathToFileURL } from 'node:url';
import { graphShown } from './browser.mjs';
import { QuietBrowser } from './protocol.mjs';

const [executable, rounds, ...files] = process.argv.slice(2);

/** Runs in the page. */
function parsed() {
  return new Promise((resolve) => (document.readyState === 'loading' ? document.addEventListener('DOMContentLoaded', resolve) : resolve()));
}

/** Runs in the page. */
async function shown() {
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  while (document.readyState !== 'complete') await frame();
  await frame();
  const graph = performance.now();
  while (performance.getEntriesByName('first-contentful-paint').length === 0) await frame();
  return [performance.getEntriesByName('first-contentful-paint')[0].startTime, graph];
}

const times = Object.fromEntries(files.map((file) => [file, []]));
for (let round = 0; round < Number(rounds); round++) {
  for (const file of files) {
    const browser = await QuietBrowser.start(executable);
    await browser.ask('Page.navigate', { url: pathToFileURL(file).href });
    times[file].push(await browser.evaluate(`(${parsed})().then(${graphShown}).then(${shown})`));
    await browser.close();
  }
}
console.log(JSON.stringify(times));
