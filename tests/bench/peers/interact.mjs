// SPDX-License-Identifier: Apache-2.0
// How a page of Hotstack answers to its user in headless Chromium. Usage: interact.mjs PLAYWRIGHT CHROMIUM ROUNDS FILE
// Prints a JSON object: `nodes` of the graph; `paint`, by round milliseconds from the last byte of the page to the frame that has the graph;
// and by kind of action (zoom, hover, search) the longest main-thread task of each action, milliseconds, from Chromium's trace. A round is a
// browser of its own. An action lasts until its effect was drawn: tasks that begin between its marks count, those of the driver among them.
import { pathToFileURL } from 'node:url';
import { freshPage, opened } from './browser.mjs';

const [playwright, executablePath, rounds, file] = process.argv.slice(2);
const CATEGORIES = ['blink.user_timing', 'toplevel', 'disabled-by-default-devtools.timeline', '__metadata'];
const HOVERS = 40;
const DEPTHS = 12;
const QUERIES = ['a', 'Part1', 'm7', '[0-9]2', 'Walk'];

/** Runs in the page. */
async function shown() {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const graph = document.querySelector('[data-testid="flamegraph"]');
  return { nodes: Number(graph.getAttribute('data-nodes')), paint: performance.now() - performance.getEntriesByType('navigation')[0].responseEnd };
}

/** Runs in the page: marks the end of an action after the frame that follows it. */
function drawn(name) {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(performance.mark(name))))));
}

class Actions {
  constructor(page) {
    this.page = page;
    this.count = 0;
  }

  async act(kind, action) {
    const name = `${kind} ${this.count++}`;
    await this.page.evaluate((mark) => performance.mark(mark), `begin ${name}`);
    await action();
    await this.page.evaluate(drawn, `end ${name}`);
  }

  async hover(box) {
    for (let i = 0; i < HOVERS; i++) {
      const [x, y] = [box.x + box.width * ((i * 37) % 101) / 101, box.y + 20 + (box.height - 40) * ((i * 53) % 97) / 97];
      await this.act('hover', () => this.page.mouse.move(x, y));
    }
  }

  /** The active box one level deeper each time, and zoomed to; then back to the whole. */
  async zoom() {
    const { page } = this;
    await page.getByTestId('flamegraph-canvas').focus();
    for (let i = 0; i < DEPTHS; i++) {
      await page.keyboard.press('ArrowDown');
      await this.act('zoom', () => page.keyboard.press('Enter'));
      if (i % 3 === 2) await this.act('zoom', () => page.keyboard.press('0'));
    }
    for (const key of ['+', '+', '-', '-', '0']) await this.act('zoom', () => page.keyboard.press(key));
  }

  /** A key at a time, until the page says how much matches. */
  async search() {
    const { page } = this;
    const input = page.getByTestId('search-input');
    for (const query of QUERIES) {
      await input.focus();
      for (const key of query) await this.act('search', () => page.keyboard.type(key));
      await this.act('search', async () => {
        await page.keyboard.press('Enter');
        await page.getByTestId('matched-percent').waitFor();
      });
      await this.act('search', () => input.fill(''));
    }
  }
}

/** By kind, the longest task of each action: tasks of the thread that set the marks. */
function longest(events) {
  const marks = events.filter(({ name, cat, ph }) => cat.includes('blink.user_timing') && /^(begin|end) /.test(name) && 'RIi'.includes(ph));
  const { pid, tid } = marks[0];
  const tasks = events.filter((event) => event.pid === pid && event.tid === tid && event.ph === 'X' && /RunTask$/.test(event.name));
  const times = new Map(marks.map(({ name, ts }) => [name, ts]));
  const result = { zoom: [], hover: [], search: [] };
  for (const [name, begin] of times) {
    if (!name.startsWith('begin ')) continue;
    const action = name.slice('begin '.length);
    const end = times.get(`end ${action}`);
    const own = tasks.filter(({ ts }) => ts >= begin && ts < end).map(({ dur }) => dur / 1000);
    if (end === undefined || own.length === 0) throw new Error(`${action} has no task in the trace`);
    result[action.split(' ')[0]].push(own.reduce((most, dur) => Math.max(most, dur), 0));
  }
  return result;
}

const result = { nodes: 0, paint: [], zoom: [], hover: [], search: [] };
for (let round = 0; round < Number(rounds); round++) {
  const { browser, page } = await freshPage(playwright, executablePath);
  const first = await opened(page, pathToFileURL(file).href, shown);
  result.nodes = first.nodes;
  result.paint.push(first.paint);
  await browser.startTracing(page, { categories: CATEGORIES });
  const actions = new Actions(page);
  await actions.hover(await page.getByTestId('flamegraph-canvas').boundingBox());
  await actions.zoom();
  await actions.search();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  for (const [kind, tasks] of Object.entries(longest(traceEvents))) result[kind].push(...tasks);
  await browser.close();
}
console.log(JSON.stringify(result));
