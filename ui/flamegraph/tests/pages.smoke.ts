// SPDX-License-Identifier: Apache-2.0
// Pages as the program itself writes them, from a real recording and from collapsed stacks: opened from a file, without network.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { deflateSync, gunzipSync, inflateSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems, launchBrowser, openPage, screenshot, type Browser } from '../../tests/browser.ts';
import { formatPoints } from '../src/describe.ts';
import { formatPercent } from '../src/format.ts';
import { visibleText } from '../src/text.ts';
import { sequence } from './sample.ts';

const PROGRAM = process.env['HOTSTACK_PROGRAM'] ?? '';
const DATA = process.env['HOTSTACK_RECORDINGS'] ?? '';
const TEMPLATES = fileURLToPath(new URL('../../dist/flamegraph', import.meta.url));
const RECORDING = 'async-profiler-4.5-jdk17.jfr.gz';

/** Names of threads, classes and methods in a hostile program. */
const HOSTILE = ['x'.repeat(5000), '</script><img src=x onerror=alert(1)>', '<!--<script>', `"'\\\\\\"`, '\u0001\u001b[31m', '\u202egnp.exe', 'line\u2028paragraph\u2029', '${alert(1)}`', '\\u003cb>', '&lt&amp'];

/** The parts of `hotstack diff -o x.json` that the tests read. */
interface Comparison {
  types: {
    before_total: number;
    after_total: number;
    changes: { class: string; method: string; before_self: number; after_self: number; before_share: number; after_share: number }[];
  }[];
}

let browser: Browser;
let directory: string;
const file = (name: string) => path.join(directory, name);

function hotstack(...args: string[]): string {
  return execFileSync(PROGRAM, args, { cwd: directory, encoding: 'utf8', env: { ...process.env, HOTSTACK_DATADIR: TEMPLATES }, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Replaces one of the recording's names by another of as many bytes. */
function rename(recording: Buffer, old: string, name: string): void {
  const wanted = Buffer.from(old);
  const next = Buffer.from(name);
  expect(next.length).toBe(wanted.length);
  let count = 0;
  for (let at = recording.indexOf(wanted); at >= 0; at = recording.indexOf(wanted, at + 1), count++) next.copy(recording, at);
  expect(count, `${old} in the recording`).toBeGreaterThan(0);
}

async function open(name: string, hash = '') {
  const url = pathToFileURL(file(name)).href;
  const watched = await openPage(browser.context, [url, 'data:,', 'blob:']);
  watched.page.on('dialog', (dialog) => {
    watched.complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await watched.page.goto(url + hash);
  await watched.page.locator('[data-testid="flamegraph"][data-shown]').waitFor();
  return { ...watched, graph: watched.page.getByTestId('flamegraph') };
}

/** Tabs until something with this test id has the focus. */
async function tabTo(page: Page, testId: string): Promise<void> {
  for (let i = 0; i < 60; i++) {
    if (await page.evaluate((id) => document.activeElement?.getAttribute('data-testid') === id, testId)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`no way to ${testId} by the Tab key`);
}

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'hotstack-pages-'));
  browser = await launchBrowser();
  if (PROGRAM === '') return;
  const recording = gunzipSync(readFileSync(path.join(DATA, RECORDING)));
  writeFileSync(file('real.jfr'), recording);
  rename(recording, 'burnCpu', '</b>"\'\\');
  rename(recording, 'burner-1', '<!--\u202e"');
  writeFileSync(file('hostile.jfr'), recording);
  const stacks = HOSTILE.map((name, i) => `root;a.${name} ${(i + 1) * 1000}`);
  writeFileSync(file('a.cpu.collapsed'), `${stacks.join('\n')}\n`);
  writeFileSync(file('b.cpu.collapsed'), `${stacks.slice(0, -1).join('\n')}\nroot;new 5000\n`);
});

afterAll(async () => {
  await browser.close();
  rmSync(directory, { recursive: true, force: true });
});

describe.skipIf(PROGRAM === '')('pages of the program', () => {
  it('stay text whatever names hold', async () => {
    hotstack('convert', 'a.cpu.collapsed', '-o', 'flame.html');
    hotstack('diff', 'a.cpu.collapsed', 'b.cpu.collapsed', '-o', 'diff.html');
    hotstack('convert', '--threads', 'hostile.jfr', '-o', 'hostile.heatmap.html');
    const names = new Map([
      ['flame.html', HOSTILE],
      ['diff.html', HOSTILE],
      ['hostile.heatmap.html', ['</b>"\'\\', '<!--\u202e"']],
    ]);
    for (const [page_, hostile] of names) {
      const { page, graph, complaints } = await open(page_);
      const types = await page.locator('[data-type].hsf-button, button[data-type]').count();
      const labels: string[] = [];
      for (let at = 0; at < Math.max(1, types); at++) {
        if (types > 0) {
          const type = page.locator('button[data-type]').nth(at);
          await type.click();
          await page.locator(`[data-testid="flamegraph"][data-type="${await type.getAttribute('data-type')}"]`).waitFor();
        }
        // Every frame of the table, as shown.
        if (!(await page.getByTestId('top-table').isVisible())) await page.getByRole('button', { name: /^Top/ }).click();
        labels.push(...(await page.getByTestId('top-table').getByRole('button').allTextContents()));
      }
      for (const name of hostile) {
        const seen = visibleText(name).slice(0, 40);
        expect(labels.some((label) => label.includes(seen.length < 40 ? seen : seen.slice(0, 20))), `${seen} in ${page_}`).toBe(true);
      }
      expect(await page.locator('img, iframe, main script').count()).toBe(0);
      expect(await graph.getAttribute('data-nodes')).not.toBe('');
      expect(complaints, page_).toEqual([]);
      await page.close();
    }
    for (const name of ['json', 'speedscope', 'top']) expect(() => JSON.parse(hotstack('convert', 'a.cpu.collapsed', '-f', name, '-o', '-'))).not.toThrow();
    hotstack('diff', 'a.cpu.collapsed', 'b.cpu.collapsed', '-o', 'diff.json');
    expect(() => JSON.parse(readFileSync(file('diff.json'), 'utf8'))).not.toThrow();
  });

  it('have the totals that the command line tells, type by type', async () => {
    hotstack('convert', 'real.jfr', '-o', 'real.html');
    hotstack('convert', 'real.jfr', '-o', 'real.heatmap.html');
    const { profiles } = JSON.parse(hotstack('convert', 'real.jfr', '-f', 'json', '-o', '-')) as { profiles: { type: string; value_total: string; raw_total: string; samples: number }[] };
    expect(profiles.length).toBeGreaterThan(3);
    for (const name of ['real.html', 'real.heatmap.html']) {
      const { page, complaints } = await open(name);
      for (const profile of profiles) {
        await page.locator(`button[data-type="${profile.type}"]`).click();
        await expect.poll(() => page.getByTestId('value-total').textContent()).toBe(profile.value_total);
        await page.locator(`[data-testid="flamegraph"][data-type="${profile.type}"]`).waitFor();
        expect(await page.getByTestId('raw-total').textContent()).toBe(profile.raw_total);
        expect((await page.getByTestId('samples').textContent())!.replaceAll(',', '')).toBe(String(profile.samples));
        expect(await page.getByTestId('flamegraph').getAttribute('data-shown')).toBe(profile.value_total);
        if (name !== 'real.html') expect(await page.locator('.hsh').getAttribute('data-value')).toBe(profile.value_total);
      }
      expect(complaints).toEqual([]);
      await page.close();
    }
  });

  it('have, on each side of a comparison, the values of each frame that the command line tells', async () => {
    // Counts are shown to the unit. Stacks of few frames meet in many nodes.
    const next = sequence(11);
    for (const side of ['old', 'new']) {
      const name = () => `a.C${Math.floor(next() * 3)}.m${Math.floor(next() * 3)}`;
      const lines = Array.from({ length: 24 }, () => `${Array.from({ length: 1 + Math.floor(next() * 3) }, name).join(';')} ${1 + Math.floor(next() * 5000)}`);
      writeFileSync(file(`${side}.alloc_objects.collapsed`), `${lines.join('\n')}\n`);
    }
    const pairs = [
      ['old.alloc_objects.collapsed', 'new.alloc_objects.collapsed', 'alloc_objects'],
      [path.join(DATA, 'jdk25-all.jfr.gz'), 'real.jfr', 'lock_count'],
    ] as const;
    for (const [before, after, type] of pairs) {
      for (const out of ['sides.html', 'sides.json']) hotstack('diff', before, after, '-t', type, '-o', out);
      const told = (JSON.parse(readFileSync(file('sides.json'), 'utf8')) as Comparison).types[0]!;
      const { page, complaints } = await open('sides.html');
      await page.getByTestId('tree-toggle').click();
      const rows = await page.getByTestId('tree-table').evaluate((table) => {
        for (let closed; (closed = table.querySelector('[aria-expanded="false"] [aria-hidden]')) !== null; ) (closed as HTMLElement).click();
        return [...table.querySelectorAll('[data-box]')].map((row) => [...row.querySelectorAll('td')].map((cell) => cell.querySelector('bdi')?.textContent ?? cell.textContent));
      });
      const count = (text: string | null | undefined) => Number((text ?? '?').replaceAll(',', ''));
      expect([count(rows[0]![1]), count(rows[0]![3])], type).toEqual([told.before_total, told.after_total]);
      const shown = new Map<string, [number, number]>();
      for (const [label, , beforeSelf, , afterSelf] of rows.slice(1)) {
        const sums = shown.get(label!) ?? [0, 0];
        shown.set(label!, [sums[0] + count(beforeSelf), sums[1] + count(afterSelf)]);
      }
      const wanted = told.changes.map((row): [string, [number, number]] => [row.class === '' ? row.method : `${row.class}.${row.method}`, [row.before_self, row.after_self]]);
      expect(wanted.length).toBeGreaterThan(type === 'lock_count' ? 1 : 8);
      expect(new Map([...shown].filter(([, [left, right]]) => left + right > 0)), type).toEqual(new Map(wanted));
      // The table of changes: the same shares, in the same order.
      await page.getByRole('button', { name: /^Top/ }).click();
      const changes = await page.getByTestId('top-table').locator('tbody tr').evaluateAll((list) => list.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)));
      const billion = 1e9;
      expect(changes.map(([change, was, is]) => [change, was, is])).toEqual(
        told.changes.map((row) => [formatPoints((row.after_share - row.before_share) / billion), formatPercent(row.before_share, billion), formatPercent(row.after_share, billion)]),
      );
      expect(complaints).toEqual([]);
      await page.close();
    }
  });

  it('show a comparison by keyboard alone', async () => {
    hotstack('diff', 'a.cpu.collapsed', 'b.cpu.collapsed', '-o', 'diff.html');
    const { page, graph, complaints } = await open('diff.html');
    await tabTo(page, 'search-input');
    await page.keyboard.type('new');
    await page.keyboard.press('Enter');
    await expect.poll(() => graph.getAttribute('data-active')).toContain('new, before 0 ns');
    await tabTo(page, 'flamegraph-canvas');
    await page.keyboard.press('Enter');
    await expect.poll(() => graph.getAttribute('data-zoom')).toContain('new');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('let a stretch of time be picked by keyboard alone, and taken back', async () => {
    hotstack('convert', 'real.jfr', '-o', 'real.heatmap.html');
    const { page, graph, complaints } = await open('real.heatmap.html');
    const map = page.locator('.hsh');
    const whole = Number(await map.getAttribute('data-value'));
    await tabTo(page, 'heatmap');
    for (const key of ['n', 'Enter']) await page.keyboard.press(key);
    const [from, to, value] = await Promise.all(['data-from', 'data-to', 'data-value'].map(async (name) => Number(await map.getAttribute(name))));
    expect(value).toBeGreaterThan(0);
    expect(value).toBeLessThan(whole);
    await expect.poll(() => graph.getAttribute('data-shown')).toBe(String(value));
    const said = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d{3}) to (\d\d:\d\d:\d\d\.\d{3}) UTC, .* % of all$/.exec((await page.getByTestId('selection').textContent())!);
    expect(said).not.toBeNull();
    const [, day, begin, end] = said!;
    // The command line has the same samples in that time.
    const type = (await graph.getAttribute('data-type'))!;
    const told = JSON.parse(hotstack('convert', 'real.jfr', '-t', type, '--from', `${day}T${begin}Z`, '--to', `${day}T${end}Z`, '-f', 'json', '-o', '-')) as { profiles: { value_total: string }[] };
    expect(told.profiles[0]!.value_total).toBe(String(value));
    // One end after the other, a cell at a time.
    await page.keyboard.press('s');
    expect(Number(await map.getAttribute('data-from'))).toBeGreaterThan(from!);
    await page.keyboard.press('Shift+S');
    await page.keyboard.press('e');
    expect([Number(await map.getAttribute('data-from')), Number(await map.getAttribute('data-to')) > to!]).toEqual([from, true]);
    await page.keyboard.press('Shift+E');
    await page.keyboard.press('z');
    expect(await page.getByRole('button', { name: 'Zoom out' }).isDisabled()).toBe(false);
    await page.keyboard.press('Home');
    expect(await page.getByTestId('heatmap-live').textContent()).toMatch(/UTC: /);
    await page.keyboard.press('Backspace');
    // The address keeps it, and another type shows the same time.
    // The page writes the address in a task of its own. A task that the test queues runs after it.
    const hash = await page.evaluate(() => new Promise<string>((done) => void setTimeout(() => done(location.hash))));
    const again = await open('real.heatmap.html', hash);
    expect(await again.page.locator('.hsh').getAttribute('data-value')).toBe(String(value));
    await expect.poll(() => again.graph.getAttribute('data-shown')).toBe(String(value));
    // Before anybody has clicked on it, too.
    await again.page.keyboard.press('0');
    expect(Number(await again.page.locator('.hsh').getAttribute('data-value'))).toBe(whole);
    expect(await again.page.evaluate(() => document.activeElement!.getAttribute('data-testid'))).toBe('heatmap');
    await again.page.close();
    await page.keyboard.press('Escape');
    await expect.poll(() => graph.getAttribute('data-shown')).toBe(String(whole));
    // Search and zoom below are those of a flame graph.
    await tabTo(page, 'search-input');
    await page.keyboard.type('burnCpu');
    expect(await page.getByTestId('matched-percent').textContent()).toContain('% matched');
    await screenshot(page, 'heatmap');
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('say which type of a heatmap is damaged, and stay with the one before it', async () => {
    hotstack('convert', '-t', 'cpu,alloc_bytes', 'real.jfr', '-o', 'real.heatmap.html');
    const [head, data, tail] = readFileSync(file('real.heatmap.html'), 'utf8').split(/(?<=id="hotstack-data">)([^<]*)/);
    const document = JSON.parse(inflateSync(Buffer.from(data!, 'base64')).toString()) as { profiles: { heat: { cells: { value: number[] } } }[] };
    document.profiles[1]!.heat.cells.value.pop();
    writeFileSync(file('damaged.heatmap.html'), head + deflateSync(JSON.stringify(document)).toString('base64') + tail);
    const { page, graph, complaints } = await open('damaged.heatmap.html');
    const map = page.locator('.hsh');
    const before = [await graph.getAttribute('data-shown'), await map.getAttribute('data-value')];
    await page.locator('button[data-type="alloc_bytes"]').click();
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/^Allocated bytes cannot be shown: profiles\[1\]\.heat\.cells\.bucket has \d+ entries where \d+ belong$/);
    expect([await graph.getAttribute('data-shown'), await map.getAttribute('data-value')]).toEqual(before);
    await tabTo(page, 'heatmap');
    for (const key of ['n', 'Enter']) await page.keyboard.press(key);
    await expect.poll(async () => (await graph.getAttribute('data-shown')) === (await map.getAttribute('data-value'))).toBe(true);
    expect(await map.getAttribute('data-value')).not.toBe(before[1]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('let a stretch be drawn with the mouse, and one thread be shown', async () => {
    hotstack('convert', '--threads', 'real.jfr', '-o', 'threads.heatmap.html');
    const { page, graph, complaints } = await open('threads.heatmap.html');
    const map = page.locator('.hsh');
    const box = (await page.getByTestId('heatmap').boundingBox())!;
    await page.mouse.move(box.x + 100, box.y + 30);
    expect(await page.getByTestId('tooltip').first().textContent()).toMatch(/UTCTotal/);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 60, { steps: 3 });
    await page.mouse.up();
    const value = await map.getAttribute('data-value');
    await expect.poll(() => graph.getAttribute('data-shown')).toBe(value);
    await page.keyboard.press('0');
    const threads = await page.getByTestId('threads').locator('option').evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value).filter((key) => key !== '' && key !== 'all'));
    await page.getByTestId('threads').selectOption(threads[0]!);
    await expect.poll(async () => (await map.getAttribute('data-value')) === (await graph.getAttribute('data-shown'))).toBe(true);
    expect(Number(await map.getAttribute('data-value'))).toBeLessThan(Number(await page.getByTestId('value-total').textContent()));
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('follow the system to the dark', async () => {
    hotstack('convert', 'real.jfr', '-o', 'real.heatmap.html');
    const { page } = await open('real.heatmap.html');
    const root = () => page.getByTestId('legend').locator('span').first().evaluate((swatch) => getComputedStyle(swatch).backgroundColor);
    const strip = () => page.getByTestId('scale').locator('[aria-hidden]').evaluate((element) => getComputedStyle(element).backgroundImage);
    const light = [await root(), await strip()];
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(async () => (await root()) !== light[0] && (await strip()) !== light[1]).toBe(true);
    await screenshot(page, 'heatmap-dark');
    await page.close();
  });
});
