// SPDX-License-Identifier: Apache-2.0
// The self-contained page as an exporter leaves it: opened from a file, without network, in a real browser.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems, launchBrowser, openPage, screenshot, type Browser } from '../../tests/browser.ts';
import { cpuSample, largeSample, sample, type SampleDocument } from './sample.ts';

const TEMPLATE = readFileSync(fileURLToPath(new URL('../../dist/flamegraph/flamegraph.html', import.meta.url)), 'utf8');
const MARKER = '/*HOTSTACK_DATA*/';

let browser: Browser;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'hotstack-template-'));
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Returns the data as an exporter writes it (docs/formats/flamegraph-json.md, "In a page"). */
const embedded = (document: SampleDocument) => deflateSync(JSON.stringify(document)).toString('base64');
const plain = (document: SampleDocument) => JSON.stringify(document).replaceAll('<', '\\u003c');

/** Counts how often a graph was drawn, and questions that make the browser lay the page out. */
const COUNTING = `
  window.counts = { drawn: 0, sizes: 0, scrolls: 0 };
  const { drawImage } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.drawImage = function (...what) { window.counts.drawn++; return drawImage.apply(this, what); };
  for (const [of, name, count] of [[HTMLElement.prototype, 'offsetWidth', 'sizes'], [HTMLElement.prototype, 'offsetHeight', 'sizes'], [Element.prototype, 'scrollTop', 'scrolls']]) {
    const { get, set } = Object.getOwnPropertyDescriptor(of, name);
    Object.defineProperty(of, name, { configurable: true, set, get() { window.counts[count]++; return get.call(this); } });
  }`;

async function open(html: string, hash = '', script = '') {
  const file = path.join(directory, 'flame.html');
  writeFileSync(file, html);
  const url = pathToFileURL(file).href;
  const watched = await openPage(browser.context, [url, 'data:,', 'blob:']);
  await watched.page.addInitScript(script);
  await watched.page.goto(url + hash);
  return { ...watched, graph: watched.page.getByTestId('flamegraph') };
}

/** Opens a page with this in it, and waits until it is shown or refused. */
async function openData(data: string, hash = '', script = '') {
  const opened = await open(TEMPLATE.split(MARKER).join(data), hash, script);
  await opened.page.locator('[data-testid="flamegraph"][data-nodes], [data-testid="problem"]').waitFor();
  return opened;
}

const openDocument = (document: SampleDocument, hash = '', script = '') => openData(embedded(document), hash, script);

const shop = (): SampleDocument =>
  sample({
    cpu: {
      unit: 'ns',
      stacks: {
        'com.acme.Main.run;com.acme.Cart.total;java.util.HashMap.get': 600_000_000,
        'com.acme.Main.run;com.acme.Cart.total;native:libc.so.6!memcpy;kernel:page_fault': 100_000_000,
        'com.acme.Main.run;com.acme.Pay.sign;jvm:libjvm.so!JVM_Clone': 300_000_000,
      },
    },
    alloc_bytes: { unit: 'bytes', stacks: { 'com.acme.Main.run;com.acme.Csv.parse': 3 * 2 ** 20 } },
  });

describe('flamegraph.html', () => {
  it('holds the marker once and fits its budget', () => {
    expect(TEMPLATE.split(MARKER)).toHaveLength(2);
    expect(TEMPLATE).toContain(`<script type="application/json" id="hotstack-data">${MARKER}</script>`);
    expect(Buffer.byteLength(TEMPLATE)).toBeLessThanOrEqual(100 * 1024);
  });

  it('has characters of one byte alone: with another one a browser turns all of the page into two bytes each', () => {
    expect(TEMPLATE).toMatch(/^[\n -~]*$/);
  });

  it('says something before its data, and has its script behind it', () => {
    const [before, behind] = TEMPLATE.split(MARKER);
    expect(before).toMatch(/<main id="page">\w+/);
    expect(before).not.toContain('<script>');
    expect(behind).toContain('<script>');
  });

  it('shows the graph, offline and without a complaint', async () => {
    const { page, graph, complaints } = await openDocument({ ...shop(), meta: { title: 'checkout, 60 s' } });
    expect(await page.getByRole('heading').textContent()).toBe('checkout, 60 s');
    expect(await graph.getAttribute('data-nodes')).toBe('8');
    expect(await graph.getAttribute('data-total')).toBe('1000000000');
    expect(await page.getByTestId('value-total').textContent()).toBe('1000000000');
    expect(complaints).toEqual([]);
  });

  it('switches between profile types', async () => {
    const { page, graph } = await openDocument(shop());
    await page.getByRole('button', { name: 'Allocated bytes' }).click();
    await page.locator('[data-type="alloc_bytes"][data-nodes]').waitFor();
    expect(await graph.getAttribute('data-type')).toBe('alloc_bytes');
    await expect.poll(() => page.getByTestId('raw-total').textContent()).toBe(String(3 * 2 ** 20));
    // And back: the worker still has the data that it returned before.
    await page.getByRole('button', { name: 'CPU time' }).click();
    await page.locator('[data-type="cpu"][data-nodes]').waitFor();
    await expect.poll(() => page.getByTestId('raw-total').textContent()).toBe('1000000000');
  });

  it('searches and steps through matches', async () => {
    const { page, graph } = await openDocument(shop());
    await page.getByTestId('search-input').fill('cart|hashmap');
    expect(await page.getByTestId('matched-percent').textContent()).toBe('70.0 % matched');
    await page.getByTestId('search-input').press('Enter');
    expect(await page.getByTestId('match-position').textContent()).toBe('1/2');
    expect(await graph.getAttribute('data-active')).toBe('com.acme.Cart.total, self 0 ns, total 700 ms, 70.0 %, java');
  });

  it('takes keys before anybody has clicked, and leaves the others to the browser', async () => {
    const { page, graph } = await openDocument(shop());
    const focused = () => page.evaluate(() => document.activeElement!.getAttribute('data-testid') ?? document.activeElement!.tagName);
    const blur = () => page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('BUTTON');
    await blur();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    expect(await graph.getAttribute('data-zoom')).toBe('com.acme.Cart.total, 70.0 %');
    expect(await focused()).toBe('flamegraph-canvas');
    await blur();
    await page.keyboard.press('/');
    expect(await focused()).toBe('search-input');
  });

  it('zooms by keyboard and comes back', async () => {
    const { page, graph } = await openDocument(shop());
    await page.getByTestId('flamegraph-canvas').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    expect(await graph.getAttribute('data-zoom')).toBe('com.acme.Cart.total, 70.0 %');
    expect(await page.getByTestId('tooltip').textContent()).toContain('com.acme.Cart.total');
    expect(await page.getByTestId('flamegraph-live').textContent()).toContain('total 700 ms, 70.0 %');
    await page.keyboard.press('Escape');
    expect(await graph.getAttribute('data-zoom')).toBe('');
  });

  it('zooms by click and tells self and total under the mouse', async () => {
    const { page, graph } = await openDocument(shop());
    const canvas = (await page.getByTestId('flamegraph-canvas').locator('canvas').boundingBox())!;
    const below = (row: number, share: number) => [canvas.x + canvas.width * share, canvas.y + row * 18 + 9] as const;
    await page.mouse.move(...below(3, 0.2));
    expect(await page.getByTestId('tooltip').textContent()).toBe('java.util.HashMap.getSelf600 ms (60.0 %)Total600 ms (60.0 %)Kindjava');
    await page.mouse.click(...below(2, 0.2));
    expect(await graph.getAttribute('data-zoom')).toBe('com.acme.Cart.total, 70.0 %');
    await page.mouse.click(...below(0, 0.5));
    expect(await graph.getAttribute('data-zoom')).toBe('');
  });

  it('paints each kind in its legend colour, and the root at the bottom when asked', async () => {
    const { page } = await openDocument(shop());
    const legend = await page.getByTestId('legend').locator('li').evaluateAll((entries) =>
      entries.map((entry) => [entry.textContent, getComputedStyle(entry.firstElementChild!).backgroundColor]),
    );
    expect(legend.map(([kind]) => kind)).toEqual(['java', 'native', 'jvm', 'kernel']);
    const colorAt = (row: number, share: number) =>
      page.getByTestId('flamegraph-canvas').locator('canvas').evaluate(
        (canvas: HTMLCanvasElement, [y, x]) => {
          const [red, green, blue] = canvas.getContext('2d')!.getImageData(canvas.width * x! - 4, (y! * 18 + 3) * devicePixelRatio, 1, 1).data;
          return [red, green, blue] as number[];
        },
        [row, share] as const,
      );
    const [red, , blue] = await colorAt(1, 0.5);
    expect(blue).toBeGreaterThan(red! + 20);
    const [kernelRed, kernelGreen] = await colorAt(4, 0.7);
    expect(kernelGreen).toBeGreaterThan(kernelRed! + 20);
    expect(await colorAt(4, 0.3)).toEqual([255, 255, 255]);
    const icicleRoot = await colorAt(0, 0.5);
    await page.getByRole('button', { name: /^Flame/ }).click();
    await expect.poll(() => colorAt(4, 0.5)).toEqual(icicleRoot);
    expect(await colorAt(0, 0.3)).toEqual([255, 255, 255]);
  });

  it('zooms into what was too narrow to draw apart', async () => {
    const stacks: Record<string, number> = { 'com.acme.Big.one': 1_000_000 };
    for (let i = 0; i < 50; i++) stacks[`com.acme.Tiny.m${i}`] = 10;
    const { page } = await openDocument(cpuSample(stacks));
    const canvas = (await page.getByTestId('flamegraph-canvas').locator('canvas').boundingBox())!;
    const place = [canvas.x + canvas.width - 0.6, canvas.y + 27] as const;
    await page.mouse.move(...place);
    expect(await page.getByTestId('tooltip').textContent()).toContain('\u2026 50 frames, 0.05 %');
    await page.mouse.click(...place);
    await page.mouse.move(canvas.x + 30, canvas.y + 27);
    expect(await page.getByTestId('tooltip').textContent()).toContain('com.acme.Tiny.m');
  });

  it('keeps table and graph in step', async () => {
    const { page, graph } = await openDocument(shop());
    await page.getByTestId('tree-toggle').click();
    await page.getByTestId('flamegraph-canvas').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    const selected = page.getByRole('row', { selected: true });
    expect(await selected.textContent()).toContain('java.util.HashMap.get');
    await selected.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    expect(await graph.getAttribute('data-zoom')).toBe('com.acme.Cart.total, 70.0 %');
    expect(await page.getByRole('row', { selected: true }).getAttribute('aria-level')).toBe('3');
  });

  it('says what the recording is and what was lost of it', async () => {
    const meta = { title: 't', jvm_version: 'OpenJDK 25', start_ns: '1769846400000000000', loss: { bad_events: 2 }, notes: ['Two events could not be read.'] };
    const { page } = await openDocument({ ...shop(), meta });
    expect(await page.getByTestId('warnings').textContent()).toBe('Two events could not be read.');
    await page.getByText('About this recording').click();
    expect(await page.getByTestId('about').locator('dd').allTextContents()).toEqual([
      '2026-01-31 08:00:00.000 UTC',
      'OpenJDK 25',
      'events that could not be read: 2',
    ]);
  });

  it('shows hostile names as text', async () => {
    const name = '</script><img src=x onerror=alert(1)>\u202e\u0000\u2028';
    const { page, graph, complaints } = await openDocument(cpuSample({ [`a.${name}`]: 1 }));
    await page.getByTestId('tree-toggle').click();
    const seen = 'a.</script><img src=x onerror=alert(1)>\u27e8202E\u27e9\u2400\u27e82028\u27e9';
    expect(await page.getByRole('row').nth(2).textContent()).toContain(seen);
    expect(await graph.locator('img').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('lays out in a worker, also from a file', async () => {
    const { page } = await openDocument(shop());
    expect(page.workers()).toHaveLength(1);
  });

  it('shows other views by keyboard alone, and takes them back', async () => {
    const { page, graph } = await openDocument(shop());
    const lens = (text: string) => expect.poll(() => graph.getAttribute('data-lens')).toBe(text);
    const shown = (value: number) => expect.poll(() => graph.getAttribute('data-shown')).toBe(String(value));
    await page.getByTestId('flamegraph-canvas').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'f']) await page.keyboard.press(key);
    await shown(700_000_000);
    await lens('Focus on com.acme.Cart.total');
    await page.keyboard.press('u');
    await shown(1_000_000_000);
    await page.keyboard.press('/');
    await page.keyboard.type('Pay.sign');
    await page.keyboard.press('Enter');
    await page.getByTestId('flamegraph-canvas').focus();
    await page.keyboard.press('x');
    await shown(700_000_000);
    await lens('Without com.acme.Pay.sign');
    await page.keyboard.press('r');
    await expect.poll(() => page.getByRole('button', { name: 'Reverse' }).getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('Escape');
    await lens('');
    await shown(1_000_000_000);
    expect(await page.getByRole('button', { name: 'Reverse' }).getAttribute('aria-pressed')).toBe('false');
  });

  it('puts callers above callees in a sandwich, chosen from the menu', async () => {
    const { page, graph } = await openDocument(shop());
    await page.getByTestId('search-input').fill('Cart.total');
    await page.getByTestId('search-input').press('Enter');
    await page.getByTestId('flamegraph-canvas').focus();
    await page.keyboard.press('m');
    expect(await page.getByRole('menuitem').first().textContent()).toContain('Zoom here');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => graph.getAttribute('data-lens')).toBe('Sandwich of com.acme.Cart.total');
    await page.getByTestId('callers-canvas').focus();
    for (const key of ['Home', 'ArrowUp', 'ArrowUp']) await page.keyboard.press(key);
    expect(await graph.getAttribute('data-active')).toBe('com.acme.Main.run, self 700 ms, total 700 ms, 100 %, java');
    await screenshot(page, 'template-sandwich');
    await page.getByTestId('lens').getByRole('button').click();
    await expect.poll(() => page.getByTestId('callers').count()).toBe(0);
  });

  it('opens the menu by mouse and copies a stack', async () => {
    const { page } = await openDocument(shop());
    const canvas = (await page.getByTestId('flamegraph-canvas').locator('canvas').boundingBox())!;
    await page.mouse.click(canvas.x + canvas.width * 0.2, canvas.y + 2 * 18 + 9, { button: 'right' });
    expect(await page.getByRole('menu').getAttribute('aria-label')).toBe('com.acme.Cart.total');
    await screenshot(page, 'template-menu');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('menu').count()).toBe(0);
  });

  it('keeps what it shows in the address', async () => {
    const first = await openDocument(shop());
    await first.page.getByTestId('search-input').fill('cart');
    await first.page.getByTestId('flamegraph-canvas').focus();
    for (const key of ['i', 'd', 'ArrowUp', 'ArrowUp', 'Enter']) await first.page.keyboard.press(key);
    await expect.poll(() => first.page.url()).toContain('zoom=');
    const again = await openDocument(shop(), new URL(first.page.url()).hash);
    await expect.poll(() => again.graph.getAttribute('data-zoom')).toBe('com.acme.Cart.total, 70.0 %');
    expect(await again.graph.getAttribute('data-mode')).toBe('flame');
    expect(await again.graph.getAttribute('data-lens')).toBe('Recursion collapsed');
    expect(await again.page.getByTestId('matched-percent').textContent()).toBe('70.0 % matched');
  });

  it('moves a window over the minimap', async () => {
    const { page, graph } = await openDocument(shop());
    const map = (await page.getByTestId('minimap').boundingBox())!;
    await page.mouse.move(map.x + map.width * 0.75, map.y + 10);
    await page.mouse.down();
    await page.mouse.move(map.x + map.width * 0.95, map.y + 10, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => graph.getAttribute('data-zoom')).toContain('libjvm.so.JVM_Clone');
    await page.getByTestId('flamegraph-canvas').focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('-');
    await expect.poll(() => graph.getAttribute('data-zoom')).toBe('');
  });

  it('says how a page with threads is made', async () => {
    const { page } = await openDocument(cpuSample({ 'a.B.run': 3 }));
    const threads = page.getByTestId('threads');
    expect(await threads.isDisabled()).toBe(true);
    expect(await threads.textContent()).toBe('All threads, summed: made without --threads');
    expect(await threads.getAttribute('title')).toContain('hotstack convert --threads');
  });

  it('shows threads apart, together or one', async () => {
    const stacks = { 'unknown:http-1;a.B.run': 3, 'unknown:http-2;a.B.run': 4, 'unknown:http-2;a.C.idle': 1 };
    const { page, graph } = await openDocument({ ...cpuSample(stacks), threads: true });
    const threads = page.getByTestId('threads');
    expect(await threads.locator('option').allTextContents()).toEqual(['All threads, apart', 'All threads, together', 'http-2', 'http-1']);
    await threads.selectOption('http-1');
    await expect.poll(() => graph.getAttribute('data-shown')).toBe('3');
    await threads.selectOption('All threads, together');
    await expect.poll(() => graph.getAttribute('data-shown')).toBe('8');
    await page.getByTestId('flamegraph-canvas').focus();
    await page.keyboard.press('ArrowDown');
    expect(await graph.getAttribute('data-active')).toContain('a.B.run, self 7 ns');
  });

  it('compares two recordings', async () => {
    const document = cpuSample({ 'a.A.run;a.B.more': 60, 'a.A.run;a.C.less': 20, 'a.A.run;a.D.same': 20 });
    const profile = document.profiles[0]!;
    profile.nodes.before = [0, 0, 20, 60, 20];
    profile.omitted.before = [];
    profile.changes = [[1, 2e8, 6e8, 3.5e8, 4.5e8], [3, 2e8, 2e8]];
    const { page, graph } = await openDocument(document);
    expect(await page.getByTestId('legend').locator('li').allTextContents()).toEqual(['less', 'the same', 'more']);
    expect(await page.getByTestId('figures').textContent()).toMatch(/^Before 100 ns ?After 100 ns/);
    await page.getByTestId('search-input').fill('more');
    await page.getByTestId('search-input').press('Enter');
    expect(await graph.getAttribute('data-active')).toBe('a.B.more, before 20 ns (20.0 %), self 20 ns, after 60 ns (60.0 %), self 60 ns, change +40.0 points');
    await page.getByRole('button', { name: 'Top table' }).click();
    expect(await page.getByTestId('top-table').locator('tbody tr').first().textContent()).toContain('+40.0 points20.0 %60.0 %+35.0 points to +45.0 pointsa.B.more');
    await screenshot(page, 'template-compare');
  });

  it('says how much runs through what is missing', async () => {
    const { page } = await openDocument(cpuSample({ 'unknown:[truncated];a.B.run': 25, 'a.B.run': 75 }));
    expect(await page.getByTestId('[truncated]').textContent()).toBe('25.0 %');
  });

  it('says what is wrong with a broken document', async () => {
    const document = cpuSample({ 'a.A.run': 1 });
    document.strings[0] = 'x';
    const { page } = await openDocument(document);
    expect(await page.getByTestId('problem').textContent()).toContain('strings[0] is not the empty string');
  });

  it('reads a document that was not compressed', async () => {
    const { graph } = await openData(plain(cpuSample({ 'a.A.<init>': 7 })));
    expect(await graph.getAttribute('data-shown')).toBe('7');
  });

  it.each([
    ['cut short', (data: string) => data.slice(0, data.length / 2)],
    ['damaged', (data: string) => `${data.slice(0, 40)}AAAAAAAA${data.slice(48)}`],
    ['no base64', () => '%%%'],
  ])('says that compressed data is %s', async (_, change) => {
    const { page } = await openData(change(embedded(shop())));
    expect(await page.getByTestId('problem').textContent()).toContain('This file cannot be shown');
  });

  it('says what a browser without decompression can do', async () => {
    const { page } = await openDocument(shop(), '', 'delete window.DecompressionStream;');
    expect(await page.getByTestId('problem').textContent()).toContain('Firefox 113');
  });

  it('decodes a type when it is chosen, and stays with the one before it when that is damaged', async () => {
    const document = shop();
    document.profiles[1]!.nodes.self.pop();
    const { page, graph, complaints } = await openDocument(document);
    expect(await graph.getAttribute('data-shown')).toBe('1000000000');
    const types = page.getByRole('group', { name: 'Profile type' }).getByRole('button');
    const pressed = () => types.evaluateAll((all) => all.map((button) => button.getAttribute('aria-pressed')));
    await types.nth(1).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/^Allocated bytes cannot be shown: profiles\[1\]\.nodes\.self has \d+ entries where \d+ belong$/);
    await expect.poll(pressed).toEqual(['true', 'false']);
    expect([await graph.getAttribute('data-type'), await page.getByTestId('value-total').textContent()]).toEqual(['cpu', '1000000000']);
    expect(page.url()).not.toContain('alloc');
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByTestId('search-input').fill('cart');
    await expect.poll(() => page.getByTestId('matched-percent').textContent()).toBe('70.0 % matched');
    await types.nth(0).click();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('says that the template is empty', async () => {
    const { page } = await open(TEMPLATE);
    expect(await page.getByTestId('problem').textContent()).toContain('empty template');
  });

  it.each(['light', 'dark'] as const)('passes axe in %s', async (colorScheme) => {
    const { page } = await openDocument(shop());
    await page.emulateMedia({ colorScheme });
    await page.getByTestId('tree-toggle').click();
    await page.getByTestId('search-input').fill('cart');
    await screenshot(page, `template-${colorScheme}`);
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it('stays readable on a narrow screen', async () => {
    const { page } = await openDocument(shop());
    await page.setViewportSize({ width: 420, height: 700 });
    await screenshot(page, 'template-narrow');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(420);
  });

  it('keeps the tooltip beside the mouse and in the window', async () => {
    const { page } = await openDocument(shop());
    const canvas = (await page.getByTestId('flamegraph-canvas').locator('canvas').boundingBox())!;
    await page.setViewportSize({ width: 1280, height: Math.ceil(canvas.y) + 60 });
    for (const share of [0.05, 0.5, 0.97]) {
      const [x, y] = [Math.round(canvas.x + canvas.width * share), Math.round(canvas.y + 9)];
      await page.mouse.move(x, y);
      const tip = (await page.getByTestId('tooltip').boundingBox())!;
      expect(tip.x + tip.width).toBeLessThanOrEqual(1280);
      const gap = tip.x > x ? tip.x - x : x - tip.x - tip.width;
      expect(gap).toBeCloseTo(14, 0);
      expect(tip.y + tip.height).toBeCloseTo(y - 14, 0);
    }
  });

  it('draws a frame once, and asks for no layout while it points and zooms', async () => {
    const { page, graph } = await openDocument(largeSample(5_000), '', COUNTING);
    const counts = () => page.evaluate(() => new Promise<unknown>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve({ ...(window as unknown as { counts: object }).counts }))))));
    expect(await counts()).toMatchObject({ drawn: 1 });
    const canvas = (await page.getByTestId('flamegraph-canvas').locator('canvas').boundingBox())!;
    await page.evaluate(() => Object.assign((window as unknown as { counts: object }).counts, { drawn: 0, sizes: 0, scrolls: 0 }));
    for (let i = 1; i < 10; i++) await page.mouse.move(canvas.x + (canvas.width * i) / 10, canvas.y + 30);
    expect(await counts()).toEqual({ drawn: 0, sizes: 0, scrolls: 0 });
    await page.getByTestId('flamegraph-canvas').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await graph.getAttribute('data-zoom')).not.toBe('');
    expect(await counts()).toEqual({ drawn: 1, sizes: 0, scrolls: 0 });
  });

  it('opens 200,000 nodes and stays usable', async () => {
    const { page, graph, complaints } = await openDocument(largeSample(200_000));
    expect(Number(await graph.getAttribute('data-nodes'))).toBeGreaterThanOrEqual(200_000);
    await page.getByTestId('search-input').fill('framework');
    await page.getByTestId('search-input').press('Enter');
    await expect.poll(() => page.getByTestId('matched-percent').textContent()).toMatch(/^[\d.]+ % matched$/);
    await expect.poll(() => page.getByTestId('match-position').textContent()).toMatch(/^1\//);
    await screenshot(page, 'template-200k');
    expect(complaints).toEqual([]);
  });
});
