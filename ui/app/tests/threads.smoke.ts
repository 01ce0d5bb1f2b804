// SPDX-License-Identifier: Apache-2.0
// Threads, locks, deadlocks and targets in a real browser.
import { describe, expect, it } from 'vitest';
import { accessibilityProblems, screenshot } from '../../tests/browser.ts';
import { target } from './mock.ts';
import { NO_AGENT, SOURCES } from './pool.ts';
import { address, backend, browser, complaints, enter, eventually, origin, page, serveApp } from './site.ts';

serveApp();

const of = (tab: string, search = '') => `/services/shop/checkout/${tab}?cluster=local${search}`;
const LOCK_ROW = '00000000000012ab.1b2c3d4e.java.util.concurrent.locks.ReentrantLock$NonfairSync';
const DEADLOCK = '/deadlocks/00000000000012ab-00000000000000aa';

/** Presses Tab until the focus is on something that `selector` matches. */
async function tabTo(selector: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
  }
  throw new Error(`the Tab key does not reach ${selector}`);
}

const activeText = () => page.evaluate(() => document.activeElement?.textContent ?? '');

describe('frame', () => {
  it('leads between the pages of a service and keeps range and filters', async () => {
    await enter(of('cpu', '&range=1h'));
    const narrowed = page.waitForRequest((request) => /\/v1\/flamegraph\?.*pod=checkout-6d5f7-x2x9k/.test(request.url()));
    await page.getByTestId('filter-pod').selectOption('checkout-6d5f7-x2x9k');
    await eventually(() => address().searchParams.get('pod'), 'checkout-6d5f7-x2x9k');
    await narrowed;
    for (const [name, path] of [
      ['Locks', 'locks'],
      ['Threads', 'threads'],
      ['Deadlocks', 'deadlocks'],
      ['Targets', 'targets'],
      ['Memory', 'memory'],
    ]) {
      await page.getByRole('navigation', { name: 'Pages of the service' }).getByRole('link', { name, exact: true }).click();
      await eventually(() => address().pathname, `/services/shop/checkout/${path}`);
      expect(address().search).toBe('?range=1h&pod=checkout-6d5f7-x2x9k&cluster=local');
    }
    await page.goBack();
    await eventually(() => address().pathname, '/services/shop/checkout/targets');
    const asked = backend.calls
      .map(({ url }) => new URL(url, 'http://x'))
      .filter(({ pathname }) => pathname === '/v1/locks')
      .pop()!;
    expect(asked.searchParams.get('pod')).toBe('checkout-6d5f7-x2x9k');
    expect(complaints).toEqual([]);
  });
});

describe('overview', () => {
  it('tells deadlocks first, then graphs, the busiest threads and the locks that cost most', async () => {
    await enter('/services/shop/checkout?cluster=local&range=1h');
    for (const part of ['panel-deadlocks', 'panel-busy', 'panel-locks']) await page.getByTestId(part).locator('tbody tr').first().waitFor();
    const headings = await page.locator('section h2').allTextContents();
    expect(headings).toEqual(['Deadlocks', 'CPU', 'Allocation', 'Locks', 'Busiest threads', 'Locks that cost most', 'Top methods']);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByTestId('panel-deadlocks').getByRole('link', { name: 'all' }).click();
    await eventually(() => address().pathname, '/services/shop/checkout/deadlocks');
    expect(complaints).toEqual([]);
  });
});

describe('busy threads', () => {
  it('stand on the CPU page with their confidence, and open their stacks over time', async () => {
    await enter(of('cpu', '&range=1h'));
    const table = page.getByTestId('busy-table');
    await table.waitFor();
    const rows = await table
      .locator('tbody tr')
      .evaluateAll((found) => found.map((row) => [...row.children].slice(0, 3).map((cell) => cell.textContent)));
    expect(rows).toEqual([
      ['http-nio-8080-exec-4', '0.83 cores', 'exact CPU'],
      ['search-index-writer', '0.41 cores', 'exact CPU'],
      ['http-nio-8080-exec-5', '0.31 cores', 'runnable samples'],
      ['report-1', '< 0.01 cores', 'profile only'],
    ]);
    await table.getByRole('link', { name: 'http-nio-8080-exec-4' }).click();
    await page.getByTestId('thread-name').getByText('http-nio-8080-exec-4').waitFor();
    await eventually(() => address().pathname, '/services/shop/checkout/threads/00000000000012ab/34');
    const entries = await page.getByTestId('spell').locator('> summary').allTextContents();
    expect(entries).toHaveLength(3);
    expect(entries[1]).toContain('waits for java.util.concurrent');
    expect(entries[1]).toContain('held by http-nio-8080-exec-1');
    expect(await page.getByTestId('stack').first().textContent()).toContain('com.acme.search.Postings.intersect (Postings.java:88)');
    await page.getByRole('link', { name: 'CPU profile of its pool' }).click();
    await eventually(() => address().pathname, '/services/shop/checkout/cpu');
    expect(address().searchParams.get('pool')).toBe('http-nio-8080-exec-#');
    expect(complaints).toEqual([]);
  });
});

describe('threads', () => {
  it('draw a lane a pool, which the keyboard unfolds to threads', async () => {
    await enter(of('threads', '&range=1h'));
    await page.getByTestId('lane').first().waitFor();
    expect(await page.getByTestId('lane').evaluateAll((lanes) => lanes.map((lane) => lane.getAttribute('data-pool')))).toEqual([
      'http-nio-8080-exec-#',
      'search-index-writer',
      'report-#',
      'ForkJoinPool.commonPool-worker-#',
      'scheduled-#',
      'transfer-#',
    ]);
    expect(await page.getByTestId('lane').first().getByRole('img').getAttribute('aria-label')).toMatch(
      /cores on average, .* blocked in \d+ of \d+ spans/,
    );
    await tabTo('[data-testid="lane"]');
    await page.keyboard.press('Enter');
    await eventually(() => address().searchParams.get('unfold'), 'http-nio-8080-exec-#');
    await page.getByTestId('thread-lane').first().waitFor();
    expect(await page.getByTestId('thread-lane').count()).toBe(12);
    await page.keyboard.press('ArrowDown');
    await eventually(activeText, 'http-nio-8080-exec-4');
    await page.keyboard.press('Enter');
    await page.getByTestId('thread-name').getByText('http-nio-8080-exec-4').waitFor();
    await page.goBack();
    await page.getByTestId('thread-lane').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('lead from a brushed span to the locks of that time and pool', async () => {
    await enter(of('threads', '&range=1h'));
    const track = page.getByTestId('lane').first().getByTestId('track');
    await track.waitFor();
    const box = (await track.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.7, box.y + 10);
    expect(await page.getByTestId('readout').textContent()).toMatch(/cores; \d+ runnable/);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + 12, { steps: 4 });
    await page.mouse.up();
    await page.getByTestId('brush').getByRole('link', { name: 'Locks' }).click();
    await eventually(() => address().pathname, '/services/shop/checkout/locks');
    const { searchParams } = address();
    expect(searchParams.get('pool')).toBe('http-nio-8080-exec-#');
    expect(searchParams.get('range')).toBeNull();
    const minutes = (Date.parse(searchParams.get('to')!) - Date.parse(searchParams.get('from')!)) / 60_000;
    expect(minutes).toBeGreaterThanOrEqual(6);
    expect(minutes).toBeLessThanOrEqual(8);
    await page.getByTestId('filter-pool').selectOption({ label: 'all pools' });
    await eventually(() => address().searchParams.get('pool'), null);
    await page.getByTestId('filter-pool').selectOption({ label: 'report-#' });
    await eventually(() => address().searchParams.get('pool'), 'report-#');
    await page.getByTestId('locks-table').waitFor();
  });

  it('lead by keyboard alone from a selected span to the CPU of that time and pool', async () => {
    await enter(of('threads', '&range=1h'));
    await page.getByTestId('lane').first().waitFor();
    await tabTo('[data-pool="search-index-writer"] [data-testid="track"]');
    for (const key of ['End', 'ArrowLeft', 'Shift+ArrowLeft', 'Shift+ArrowLeft']) await page.keyboard.press(key);
    expect(await page.getByTestId('readout').textContent()).toMatch(/cores; /);
    await page.keyboard.press('Enter');
    await page.getByTestId('brush').waitFor();
    await tabTo('[data-testid="brush"] a[href*="/cpu"]');
    await page.keyboard.press('Enter');
    await eventually(() => address().pathname, '/services/shop/checkout/cpu');
    const { searchParams } = address();
    expect(searchParams.get('pool')).toBe('search-index-writer');
    expect((Date.parse(searchParams.get('to')!) - Date.parse(searchParams.get('from')!)) / 60_000).toBe(3);
  });

  it('fold slow threads that are alike into one row, with the chain to the one that runs', async () => {
    await enter(of('threads'));
    const table = page.getByTestId('slow-table');
    await table.waitFor();
    await table.getByRole('button', { name: /exec-49 and 11 alike/ }).click();
    const chain = await table.getByRole('list', { name: /Chain/ }).locator('li').allTextContents();
    expect(chain).toEqual(['http-nio-8080-exec-49', 'http-nio-8080-exec-1']);
    expect(await table.getByTestId('stack').first().textContent()).toContain('com.acme.db.Pool.borrow');
  });
});

describe('locks', () => {
  it('lead by keyboard alone from the services to the holder of a lock', async () => {
    await enter('/services');
    await page.getByTestId('services-table').waitFor();
    await tabTo('[data-testid="service-link"]');
    await page.keyboard.press('Enter');
    await page.getByTestId('panel-cpu').waitFor();
    await tabTo('nav a[href*="/locks"]');
    await page.keyboard.press('Enter');
    await page.getByTestId('locks-table').waitFor();
    await tabTo('[data-row]');
    await page.keyboard.press('ArrowDown');
    await eventually(activeText, 'com.acme.search.Cache@0a55f00d');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByTestId('lock-details').waitFor();
    await eventually(() => address().searchParams.get('open'), LOCK_ROW);
    const holder = page.getByTestId('holder').first();
    expect(await holder.textContent()).toContain('http-nio-8080-exec-1 in 4 snapshots');
    expect(await holder.locator('[data-marked]').textContent()).toBe('com.acme.db.Pool.borrow (Pool.java:60)took the lock');
    const waiters = await page.getByTestId('waiters').locator('h4').allTextContents();
    expect(waiters).toEqual(['12 threads of http-nio-8080-exec-#', '1 thread of report-#']);
    await page.keyboard.press('Enter');
    await eventually(() => page.getByTestId('lock-details').count(), 0);
  });
});

describe('deadlocks', () => {
  it('are listed once an event, and drawn as a cycle by Enter', async () => {
    await enter('/deadlocks?range=1h');
    const table = page.getByTestId('deadlock-table');
    await table.waitFor();
    const standings = await table.locator('tbody tr td:nth-child(2)').allTextContents();
    expect(standings).toEqual(['lasts', 'the JVM ended', 'not known: collector silent']);
    await tabTo('[data-testid="deadlock-link"]');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const cycle = page.getByTestId('cycle');
    await cycle.waitFor();
    expect(await cycle.getAttribute('data-closed')).toBe('true');
    const names = await cycle.getByTestId('cycle-thread').getByRole('heading').allTextContents();
    expect(names).toEqual([5, 1, 2, 3, 4].map((number) => `Thread transfer-${number}`));
    const locks = await cycle.getByTestId('cycle-lock').allTextContents();
    expect(locks[0]).toBe('waits forcom.acme.bank.Account@11aa0000 monitorheld by transfer-1');
    expect(locks[4]).toContain('held by transfer-5 (the first thread above)');
    const marks = await cycle.getByTestId('cycle-thread').first().locator('[data-marked] strong').allTextContents();
    expect(marks).toEqual(['waits for Account@11aa0000', 'took Account@11aa0004']);
    expect(await page.getByTestId('deadlock-facts').textContent()).toContain('the JVM ended');
    expect(complaints).toEqual([]);
  });

  it('are copied as text', async () => {
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
    await enter(DEADLOCK);
    await page.getByRole('button', { name: 'Copy as text' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    expect(text).toContain('Deadlock of 2 threads\n');
    expect(text).toContain('    at com.acme.bank.Transfer.run (Transfer.java:11)\n      - took com.acme.bank.Account@11aa0000\n');
  });

  it('can be copied by hand where the browser has no clipboard', async () => {
    await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await enter(DEADLOCK);
    await page.getByRole('button', { name: 'Copy as text' }).click();
    const field = page.getByLabel('Text to copy');
    await field.waitFor();
    expect(await page.evaluate(() => document.getSelection()?.toString() ?? '')).toContain('Deadlock of 2 threads');
  });
});

describe('targets', () => {
  const failed = {
    state: 'failed',
    reason: 'no_exec_dir',
    message: 'No place to load a library from.',
    fix: 'Mount an emptyDir.',
    last_window: null,
    coverage: null,
    session: '',
  };

  it('show every JVM with reason and fix, those in need first, filtered by the address', async () => {
    backend.targets = [
      target({ mode: 'temporary', mode_until: new Date(Date.now() + 600_500).toISOString(), session: 'adopted', coverage: 0.41 }),
      target({ ...failed, pid: 9, node: 'node-2', workload: 'mailer' }),
      target({ ...failed, pid: 10, node: 'node-3' }),
    ];
    await enter('/targets');
    const table = page.getByTestId('target-table');
    await table.waitFor();
    expect(await page.getByTestId('target-summary').textContent()).toBe('3 JVMs: 2 failed, 1 profiling');
    expect(await table.locator('tr[data-state]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-state')))).toEqual([
      'failed',
      'failed',
      'profiling',
    ]);
    const profiling = await table.locator('tr[data-state="profiling"]').textContent();
    expect(profiling).toMatch(/shop · cart.*temporary, ends in 10 min.*adopted.*41.0 %/);
    expect(await table.getByTestId('verdict').first().textContent()).toContain(
      'no_exec_dir No place to load a library from. Mount an emptyDir.',
    );
    await page.getByTestId('filter-state').selectOption('=failed');
    await page.getByTestId('filter-node').selectOption('=node-2');
    await eventually(() => page.getByTestId('target-summary').textContent(), '1 JVM: 1 failed');
    expect(address().search).toBe('?state=failed&node=node-2');
    await page.goBack();
    await eventually(() => page.getByTestId('target-summary').textContent(), '2 JVMs: 2 failed');
    await page.goto(`${origin}/targets?state=gone`);
    await page.getByTestId('no-match').getByRole('button').click();
    await eventually(() => address().search, '');
  });

  it('unfold the history of a JVM, and the address keeps it', async () => {
    backend.targets = [target({}), target({ pid: 9, jvm: '' })];
    backend.history = [
      target({ since: '2026-01-31T09:00:00.000Z', observed: '2026-01-31T10:00:00.000Z' }),
      target({ ...failed, since: '2026-01-31T08:00:00.000Z', observed: '2026-01-31T08:59:00.000Z' }),
    ];
    await enter(of('targets'));
    await page.getByRole('button', { name: 'profiling: history of pid 4711' }).click();
    const rows = page.getByTestId('target-history').locator('tbody tr');
    await rows.first().waitFor();
    expect(await rows.count()).toBe(2);
    expect(await rows.nth(1).textContent()).toContain('no_exec_dir · No place to load a library from.');
    expect(address().searchParams.get('open')).toBe('00000000000012ab');
    expect(backend.calls.some(({ url }) => /^\/v1\/status\?.*workload=checkout.*jvm=00000000000012ab/.test(url))).toBe(true);
    expect(await page.getByRole('button', { name: /history of pid 9$/ }).count()).toBe(0);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'profiling: history of pid 4711' }).click();
    await eventually(() => page.getByTestId('target-history').count(), 0);
  });

  it('give the fix to the clipboard', async () => {
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
    backend.targets = [target({ ...failed, pid: 9 })];
    await enter(of('targets'));
    await page.getByRole('button', { name: 'Copy fix for pid 9' }).click();
    await page.getByText('Copied').first().waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('Mount an emptyDir.');
  });

  it('stay usable by the thousand', async () => {
    backend.targets = Array.from({ length: 3000 }, (_, pid) => target({ pid, node: `node-${pid % 100}` }));
    await enter('/targets');
    await page.getByTestId('target-table').waitFor();
    expect(await page.locator('tr[data-state]').count()).toBe(200);
    await page.getByRole('button', { name: 'Show all 3,000 JVMs' }).click();
    await eventually(() => page.locator('tr[data-state]').count(), 3000);
  });
});

const EMPTY: Record<string, object> = {
  '/v1/threads': { busy: [], slow: [] },
  '/v1/threads/lanes': { lanes: [] },
  '/v1/locks': { locks: [] },
  '/v1/deadlocks': { deadlocks: [] },
};

describe('states', () => {
  it('tell "nothing happened" from "nobody looked"', async () => {
    backend.change = (path, body) => ({ ...body, ...EMPTY[path] });
    await enter('/deadlocks');
    await page
      .getByTestId('empty')
      .getByText('12 thread snapshots in this time range: no threads were seen in a cycle of locks.')
      .waitFor();
    backend.change = (path, body) => ({ ...body, ...EMPTY[path], sources: NO_AGENT });
    for (const path of ['/deadlocks', of('locks'), of('threads')]) {
      await page.goto(origin + path);
      const notice = page.getByTestId('no-snapshots').first();
      await notice.getByText('Without snapshots nothing can be said here.').waitFor();
      expect(await notice.textContent()).toContain('No snapshots of 2 JVMs (no_thread_agent): libhotstackthreads.so is not installed');
      expect(await notice.textContent()).toContain('Install it beside libasyncProfiler.so.');
      expect(await accessibilityProblems(page)).toEqual([]);
    }
  });

  it('say what an answer is short of, beside the data it has', async () => {
    backend.change = (_path, body) => ({
      ...body,
      sources: { ...SOURCES, threads_cut: 3000 },
      meta: { truncated: true, fresh_until: null, nodes_omitted: 4 },
    });
    await enter(of('locks'));
    const notice = page.getByTestId('shortfalls').first();
    await notice.waitFor();
    for (const words of ['stopped at its budget', '4 rows were left off', '3,000 snapshots hold fewer threads'])
      expect(await notice.textContent()).toContain(words);
    expect(await page.getByTestId('locks-table').isVisible()).toBe(true);
  });

  it.each([
    [503, 'store_unavailable', 'The store is down'],
    [504, 'query_timeout', 'The query timed out'],
    [410, 'expired', 'Expired by retention'],
    [403, 'forbidden_scope', 'Outside your scope'],
    [404, 'not_found', 'Not found'],
  ])('%i %s has its own words on every page', async (status, code, title) => {
    const failure = { status, code, message: 'The words of the backend.' };
    for (const call of ['threads', 'lanes', 'locks', 'deadlocks', '00000000000012ab-00000000000000aa']) backend.failures.set(call, failure);
    for (const path of ['/deadlocks', DEADLOCK, of('cpu'), of('locks'), of('threads')]) {
      await enter(path);
      const notice = page.getByTestId(`error-${code}`).first();
      await notice.waitFor();
      expect(await notice.textContent()).toContain(title);
      expect(await notice.textContent()).toContain('The words of the backend.');
    }
  });

  it('call an answer that makes no sense by its place', async () => {
    backend.change = (path, body) => (path === '/v1/locks' ? { ...body, locks: [{ class: 7 }] } : body);
    await enter(of('locks'));
    await page.getByTestId('error-bad_answer').getByText('"locks[0].jvm" is not a text').waitFor();
    expect(await page.getByTestId('slow-table').isVisible()).toBe(true);
  });

  it('say after a while what they wait for', async () => {
    await page.route('**/v1/locks?*', () => undefined);
    await enter(of('locks'));
    await page.getByTestId('panel-locks').getByText('Waiting for the backend to read thread snapshots.').waitFor();
  });
});

/** Replaces every text of an answer except those that the page must understand. */
function withHostileNames(value: unknown, hostile: string): unknown {
  if (Array.isArray(value)) return value.map((entry) => withHostileNames(entry, hostile));
  if (typeof value !== 'object' || value === null) return value;
  const names = [
    'name',
    'pool',
    'pod',
    'class',
    'method',
    'file',
    'container',
    'node',
    'workload',
    'reason',
    'explanation',
    'fix',
    'state',
    'kind',
    'confidence',
  ];
  const change = (key: string, entry: unknown) =>
    names.includes(key) && typeof entry === 'string' ? hostile : withHostileNames(entry, hostile);
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, ['chain', 'names'].includes(key) ? [hostile, hostile] : change(key, entry)]),
  );
}

describe('hostile names', () => {
  it.each([
    ['markup', '<img src=x onerror=alert(1)><script>alert(1)</script>'],
    ['direction and control', '\u202e\u2066evil\u0000\n\u001b[31m\u200b'],
    ['prototype', '__proto__'],
    ['length', 'x'.repeat(60_000)],
    ['nothing', ''],
  ])('of %s stay text, and the page stays whole', async (_kind, hostile) => {
    backend.change = (_path, body) => withHostileNames(body, hostile) as Record<string, unknown>;
    backend.targets = [target({ state: hostile, mode: hostile, session: hostile, detail: hostile, message: hostile })].map(
      (row) => withHostileNames(row, hostile) as Record<string, unknown>,
    );
    for (const path of [
      '/deadlocks',
      DEADLOCK,
      '/targets',
      of('targets'),
      of('cpu'),
      of('locks', `&open=${encodeURIComponent(`00000000000012ab.1b2c3d4e.${hostile.slice(0, 200)}`)}`),
      of('threads', '&unfold='),
      of('threads/00000000000012ab/31'),
    ]) {
      await enter(path);
      await page
        .locator(
          '[data-testid="busy-table"], [data-testid="locks-table"], [data-testid="lanes"], [data-testid="deadlock-table"], [data-testid="cycle"], [data-testid="spell"], [data-testid="target-table"]',
        )
        .first()
        .waitFor();
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow).toBeLessThanOrEqual(0);
      expect(await page.evaluate(() => document.querySelectorAll('main img, main script').length)).toBe(0);
      expect(await page.locator('main').innerText()).not.toMatch(/[\u202e\u2066\u0000\u001b\u200b]/);
    }
    expect(complaints).toEqual([]);
  });
});

describe('look', () => {
  it.each(['light', 'dark'] as const)('passes axe in %s on every page, wide and narrow', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    const pages: [string, string, string][] = [
      ['cpu', of('cpu', '&range=1h'), 'busy-table'],
      ['memory', of('memory'), 'panel-alloc'],
      ['locks', of('locks', `&open=${encodeURIComponent(LOCK_ROW)}`), 'lock-details'],
      ['threads', of('threads', '&range=1h&unfold=http-nio-8080-exec-%23'), 'thread-lane'],
      ['thread', of('threads/00000000000012ab/34', '&range=1h'), 'spell'],
      ['service-deadlocks', of('deadlocks'), 'deadlock-table'],
      ['service-targets', of('targets'), 'target-table'],
      ['targets', '/targets', 'target-table'],
      ['ingestion', '/ingestion?range=1h', 'retention-table'],
      ['deadlocks', '/deadlocks', 'deadlock-table'],
      ['deadlock', DEADLOCK, 'cycle'],
    ];
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const [name, path, ready] of pages) {
        await enter(path);
        await page.getByTestId(ready).first().waitFor();
        expect([name, await accessibilityProblems(page)]).toEqual([name, []]);
        expect([name, await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)]).toEqual([name, 0]);
        await screenshot(page, `app-${name}-${colorScheme}-${width}`);
      }
    }
    expect(complaints).toEqual([]);
  });
});
