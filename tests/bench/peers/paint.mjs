// How soon pages show their graph in headless Chromium. Usage: paint.mjs PLAYWRIGHT CHROMIUM ROUNDS FILE...
// Prints a JSON object: by file, a list of [first paint, graph]: milliseconds from the start of navigation to Chromium's first paint
// with content, and to the frame that has the graph. Files take turns, each in a browser of its own, so that nothing is warm. Pages
// of Hotstack say when they have drawn (data-shown); jfrconv's draw while they are loaded.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [playwright, executablePath, rounds, ...files] = process.argv.slice(2);
const { chromium } = createRequire(`${playwright}/`)('playwright-core');

/** Runs in the page. */
async function shown() {
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const isOurs = document.getElementById('hotstack-data') !== null;
  while (isOurs ? document.querySelector('[data-shown]') === null : document.readyState !== 'complete') await frame();
  await frame();
  const graph = performance.now();
  while (performance.getEntriesByName('first-contentful-paint').length === 0) await frame();
  return [performance.getEntriesByName('first-contentful-paint')[0].startTime, graph];
}

const times = Object.fromEntries(files.map((file) => [file, []]));
for (let round = 0; round < Number(rounds); round++) {
  for (const file of files) {
    const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(pathToFileURL(file).href, { waitUntil: 'commit' });
    await page.waitForLoadState('domcontentloaded');
    times[file].push(await page.evaluate(shown));
    await browser.close();
  }
}
console.log(JSON.stringify(times));
