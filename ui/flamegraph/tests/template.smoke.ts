// The self-contained page as an exporter leaves it: opened from a file, without network, in a real browser.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
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

/** What an exporter writes (docs/formats/flamegraph-json.md). */
const escaped = (document: unknown) => JSON.stringify(document).replaceAll('<', '\\u003c');

async function open(html: string) {
  const file = path.join(directory, 'flame.html');
  writeFileSync(file, html);
  const url = pathToFileURL(file).href;
  const watched = await openPage(browser.context, [url, 'data:,']);
  await watched.page.goto(url);
  return { ...watched, graph: watched.page.getByTestId('flamegraph') };
}

const openDocument = (document: SampleDocument) => open(TEMPLATE.split(MARKER).join(escaped(document)));

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
    expect(Buffer.byteLength(TEMPLATE)).toBeLessThanOrEqual(60 * 1024);
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
    expect(await graph.getAttribute('data-type')).toBe('alloc_bytes');
    expect(await page.getByTestId('raw-total').textContent()).toBe(String(3 * 2 ** 20));
  });

  it('searches and steps through matches', async () => {
    const { page, graph } = await openDocument(shop());
    await page.getByTestId('search-input').fill('cart|hashmap');
    expect(await page.getByTestId('matched-percent').textContent()).toBe('70.0 % matched');
    await page.getByTestId('search-input').press('Enter');
    expect(await page.getByTestId('match-position').textContent()).toBe('1/2');
    expect(await graph.getAttribute('data-active')).toBe('com.acme.Cart.total, self 0 ns, total 700 ms, 70.0 %, java');
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
    const canvas = (await page.locator('canvas').boundingBox())!;
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
    const legend = await page.locator('.hsf-legend li').evaluateAll((entries) =>
      entries.map((entry) => [entry.textContent, getComputedStyle(entry.firstElementChild!).backgroundColor]),
    );
    expect(legend.map(([kind]) => kind)).toEqual(['java', 'native', 'jvm', 'kernel']);
    const colorAt = (row: number, share: number) =>
      page.locator('canvas').evaluate(
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
    const canvas = (await page.locator('canvas').boundingBox())!;
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

  it('says what is wrong with a broken document', async () => {
    const document = shop();
    document.profiles[0]!.nodes.depth[1] = 5;
    const { page } = await openDocument(document);
    expect(await page.getByTestId('problem').textContent()).toContain('profiles[0].nodes.depth[1] is 5 after 0');
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

  it('opens 200,000 nodes and stays usable', async () => {
    const { page, graph, complaints } = await openDocument(largeSample(200_000));
    expect(Number(await graph.getAttribute('data-nodes'))).toBeGreaterThanOrEqual(200_000);
    await page.getByTestId('search-input').fill('framework');
    expect(await page.getByTestId('matched-percent').textContent()).toMatch(/^[\d.]+ % matched$/);
    await page.getByTestId('search-input').press('Enter');
    expect(await page.getByTestId('match-position').textContent()).toMatch(/^1\//);
    await screenshot(page, 'template-200k');
    expect(complaints).toEqual([]);
  });
});
