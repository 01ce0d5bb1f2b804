// SPDX-License-Identifier: Apache-2.0
// The built app in a real browser, against the mock backend and under the real backend's content security policy.
import { describe, expect, it } from 'vitest';
import { accessibilityProblems, screenshot } from '../../tests/browser.ts';
import { retention } from './ledger.ts';
import { CODE, target, TOKEN } from './mock.ts';
import { address, backend, browser, complaints, enter, eventually, origin, page, serveApp, SERVICE } from './site.ts';

serveApp();

const graph = (group: string) => page.getByTestId(`flamegraph-${group}`);
const attribute = (group: string, name: string, value: string) => page.locator(`[data-testid="flamegraph-${group}"][${name}="${value}"]`).waitFor();

describe('login', () => {
  it('asks for a token, tells a wrong one, and goes where the user wanted to', async () => {
    await page.goto(`${origin}${SERVICE}&range=1h`);
    await page.getByTestId('token-input').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('This token is not valid.').waitFor();
    await screenshot(page, 'app-login');
    await page.getByTestId('token-input').fill(TOKEN);
    await page.getByRole('button', { name: 'Log in' }).click();
    await graph('cpu').waitFor();
    await eventually(() => address().search, '?cluster=local&range=1h');
  });

  it('takes a one-time code from the fragment and leaves no trace of it', async () => {
    await page.goto(`${origin}/#code=${CODE}`);
    await page.getByTestId('services-table').waitFor();
    await eventually(() => page.url(), `${origin}/services`);
    await page.goBack().catch(() => null);
    expect(page.url()).not.toContain(CODE);
  });

  it('says that a used code does not work', async () => {
    await browser.context.request.post(`${origin}/v1/session`, { data: { code: CODE } });
    await browser.context.clearCookies();
    await page.goto(`${origin}/#code=${CODE}`);
    await page.getByText('The link could not log you in: The token or code is not valid.').waitFor();
  });

  it('takes the same link again while its session is good', async () => {
    await page.goto(`${origin}/#code=${CODE}`);
    await page.getByTestId('services-table').waitFor();
    await page.goto('about:blank');
    await page.goto(`${origin}/#code=${CODE}`);
    await page.getByTestId('services-table').waitFor();
    await eventually(() => page.url(), `${origin}/services`);
  });

  it('goes back to login when the session ends, and returns', async () => {
    await enter(SERVICE);
    await graph('cpu').waitFor();
    backend.endSessions();
    await page.getByTestId('token-input').waitFor();
    await eventually(() => address().searchParams.get('next'), SERVICE);
  });

  it('never leaves the site after login', async () => {
    await page.goto(`${origin}/login?next=${encodeURIComponent('//evil.example/')}`);
    await page.getByTestId('token-input').fill(TOKEN);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByTestId('services-table').waitFor();
    await eventually(() => address().pathname, '/services');
  });

  it('logs out', async () => {
    await enter('/services');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByTestId('token-input').waitFor();
  });
});

describe('services', () => {
  it('lists services with totals, filters, and leads to one', async () => {
    await enter('/services?range=1h');
    const table = page.getByTestId('services-table');
    await table.waitFor();
    const names = () => table.getByTestId('service-link').allTextContents();
    expect(await names()).toEqual(['checkout', 'ledger-writer', 'mailer']);
    await screenshot(page, 'app-services-light');
    await page.getByTestId('services-filter').fill('pay');
    await eventually(names, ['ledger-writer']);
    await page.getByTestId('services-filter').fill('');
    await eventually(async () => (await names()).length, 3);
    await table.getByRole('link', { name: 'checkout' }).click();
    await graph('cpu').waitFor();
    await eventually(() => address().pathname + address().search, '/services/shop/checkout?range=1h&cluster=local');
    expect(complaints).toEqual([]);
  });
});

describe('ingestion', () => {
  it('tells what the store keeps, expired rows that stay, and sums that wait', async () => {
    await enter('/ingestion?range=1h');
    const samples = page.getByTestId('retention-table').getByRole('row', { name: /^profile_samples / });
    await eventually(() => samples.textContent(), 'profile_samples6 d agonone61,204,511230 MiB14');
    await page.getByTestId('kept').getByText('Kept for 7 days').waitFor();
    await page.getByTestId('sums').getByText('Every closed hour is summed.').waitFor();
    expect(await page.getByTestId('lag').count()).toBe(0);
    backend.change = (path, body) => (path === '/v1/retention' ? retention({ lag: 8 * 3600, rollups: { pending_hours: 5 } }) : body);
    await page.reload();
    await samples.getByText('for 8 hours: see whether the store merges').waitFor();
    await page.getByTestId('sums').getByText('5 hours of services wait to be summed.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows collectors and batches to whom the tables are forbidden', async () => {
    backend.failures.set('retention', { status: 403, code: 'forbidden_scope', message: 'Your scope does not cover this.' });
    await enter('/ingestion?range=1h');
    await page.getByTestId('error-forbidden_scope').waitFor();
    expect(await page.getByTestId('collector-table').isVisible()).toBe(true);
    expect(await page.getByTestId('funnel').isVisible()).toBe(true);
  });
});

describe('service', () => {
  it('shows the three graphs with exact totals', async () => {
    await enter(SERVICE);
    for (const [group, type, total] of [
      ['cpu', 'cpu', '45000000000'],
      ['alloc', 'alloc_bytes', '1101004800'],
      ['lock', 'lock_delay', '3450000000'],
    ]) {
      await attribute(group!, 'data-total', total!);
      const panel = page.getByTestId(`panel-${group}`);
      for (const sum of ['value-total', 'raw-total']) {
        const shown = panel.getByTestId(sum);
        expect(await shown.getAttribute('data-exact')).toBe(total);
        expect(await shown.getAttribute('title')).toContain(total);
        expect(await shown.getAttribute('data-type')).toBe(type);
        expect(await shown.textContent()).not.toMatch(/\d{4}/);
      }
      expect(await panel.getByTestId('shares').textContent()).toContain('shown 98.6 %');
    }
    expect(Number(await graph('cpu').getAttribute('data-nodes'))).toBeGreaterThan(30);
    expect(complaints).toEqual([]);
  });

  it('shows each type over time, and where nothing was recorded; dragging over it selects a range', async () => {
    await enter('/services/shop/checkout/cpu?cluster=local&range=1h&live=off');
    const timeline = page.getByTestId('timeline-cpu');
    const track = timeline.getByTestId('timeline-track');
    await track.waitFor();
    expect(await timeline.getByRole('img').getAttribute('aria-label')).toMatch(
      /^CPU.*: [\d.]+ cores on average, [\d.]+ cores at most, nothing recorded in 5 of 120 spans$/,
    );
    const box = (await track.boundingBox())!;
    const move = (share: number) => page.mouse.move(box.x + box.width * share, box.y + 10, { steps: 3 });
    await move(0.26);
    await timeline.getByText(/: nothing recorded$/).waitFor();
    await move(0.5);
    await timeline.getByText(/\d: [\d.]+ cores$/).waitFor();
    await page.mouse.down();
    await move(0.6);
    await page.mouse.up();
    const minutes = () => (Date.parse(address().searchParams.get('to')!) - Date.parse(address().searchParams.get('from')!)) / 60_000;
    await eventually(() => address().searchParams.get('range'), null);
    expect(minutes()).toBeGreaterThanOrEqual(6);
    expect(minutes()).toBeLessThanOrEqual(7);
    await eventually(() => backend.calls.some(({ url }) => url.startsWith('/v1/flamegraph') && url.includes(`to=${Date.parse(address().searchParams.get('to')!)}`)), true);
    // A window lasts a minute: a shorter range could have none.
    await track.click();
    await eventually(minutes, 1);
    await page.goBack();
    await eventually(() => minutes() >= 6, true);
    await page.goBack();
    await eventually(() => address().searchParams.get('range'), '1h');
    await track.focus();
    for (const key of ['Home', 'Shift+ArrowRight', 'Escape', 'ArrowRight', 'Shift+End', 'Shift+ArrowLeft']) await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    await eventually(() => address().searchParams.get('range'), null);
    expect(minutes()).toBeGreaterThan(58);
    await page.goBack();
    await eventually(() => address().searchParams.get('range'), '1h');
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('has the graph also where its timeline fails, and no timeline of what is no sum over time', async () => {
    backend.failures.set('timeline', { status: 504, code: 'query_timeout', message: 'Too slow.' });
    backend.emptyTypes.clear();
    await enter('/services/shop/checkout/cpu?cluster=local');
    await graph('cpu').waitFor();
    await page.getByTestId('error-query_timeout').waitFor();
    backend.failures.clear();
    await enter('/services/shop/checkout/memory?cluster=local');
    await page.getByTestId('timeline-alloc_bytes').waitFor();
    await page.getByTestId('type-alloc').getByText('live', { exact: true }).click();
    await attribute('alloc', 'data-total', '2150400');
    expect(await page.getByTestId(/^timeline-alloc/).count()).toBe(0);
  });

  it('searches all graphs at once and keeps the search in the address', async () => {
    await enter(SERVICE);
    await graph('cpu').getByTestId('search-input').fill('com\\.acme\\.search');
    await graph('lock').getByText('30.4 % matched').waitFor();
    await eventually(() => graph('cpu').getByTestId('matched-percent').textContent(), '32.4 % matched');
    await eventually(() => address().searchParams.get('q'), 'com\\.acme\\.search');
    await graph('cpu').getByTestId('search-input').press('Enter');
    expect(await graph('cpu').getAttribute('data-active')).toMatch(/^com\.acme\.search\.Index\.query, self 0 ns, total 14\.6 s, 32\.4 %/);
  });

  it('keeps the search of a link', async () => {
    await enter(`${SERVICE}&q=Pricing`);
    await graph('cpu').getByText('28.4 % matched').waitFor();
  });

  it('grows while somebody looks, with the zoom where it was', async () => {
    await enter(`${SERVICE}&range=5m`);
    await attribute('cpu', 'data-total', '45000000000');
    await graph('cpu').getByTestId('search-input').fill('Pricing.total');
    await graph('cpu').getByTestId('search-input').press('Enter');
    await graph('cpu').getByTestId('flamegraph-canvas').focus();
    await page.keyboard.press('Enter');
    await attribute('cpu', 'data-zoom', 'com.acme.shop.Pricing.total, 28.4 %');
    backend.age = 3;
    await attribute('cpu', 'data-total', '135000000000');
    expect(await graph('cpu').getByTestId('flamegraph-live').textContent()).toContain('total 12.8 s');
    expect(await graph('cpu').getAttribute('data-active')).toContain('total 38.4 s');
    expect(await graph('cpu').getAttribute('data-zoom')).toBe('com.acme.shop.Pricing.total, 28.4 %');
    await page.keyboard.press('Escape');
    await attribute('cpu', 'data-zoom', '');
  });

  it('leaves the tooltip under the mouse when new data comes, with new figures', async () => {
    await enter(`${SERVICE}&range=5m`);
    const canvas = (await graph('cpu').getByTestId('flamegraph-canvas').locator('canvas').boundingBox())!;
    await page.mouse.move(canvas.x + canvas.width * 0.5, canvas.y + 27);
    const tooltip = graph('cpu').getByTestId('tooltip');
    expect(await tooltip.textContent()).toContain('java.lang.Thread.run');
    const before = await tooltip.textContent();
    backend.age = 2;
    await attribute('cpu', 'data-total', '90000000000');
    expect(await tooltip.isVisible()).toBe(true);
    expect(await tooltip.textContent()).not.toBe(before);
  });

  it('asks with the tag it has, and not at all when told to stand still', async () => {
    await enter(`${SERVICE}&range=5m`);
    await graph('cpu').waitFor();
    await expect.poll(() => backend.calls.filter((call) => call.unchanged).length, { timeout: 30_000 }).toBeGreaterThan(3);
    await page.getByTestId('live-toggle').click();
    await eventually(() => address().searchParams.get('live'), 'off');
  });

  it('switches what allocation and locks count', async () => {
    await enter(SERVICE);
    await page.getByTestId('type-alloc').getByText('objects').click();
    await attribute('alloc', 'data-type', 'alloc_objects');
    await page.getByTestId('type-lock').getByText('count').click();
    await attribute('lock', 'data-total', '1150');
    await eventually(() => address().searchParams.get('lock'), 'lock_count');
  });

  it('says what was lost before it was counted', async () => {
    backend.lostEvents = '12345';
    await enter(SERVICE);
    await page.getByTestId('panel-cpu').getByText('12,345 events were lost').waitFor();
  });

  it('says how much of the time was recorded, and why the rest was not', async () => {
    backend.coverage = { share: 0.925, lost_windows: 3, reason: 'process_exited' };
    await enter(SERVICE);
    const panel = page.getByTestId('panel-cpu');
    await panel.getByTestId('coverage').getByText('recorded 92.5 % of the time').waitFor();
    await panel.getByText('nothing was recorded in 3 windows, last because of process_exited').waitFor();
  });

  it('says which batches never came, also where nothing is left to draw', async () => {
    backend.loss = { dropped_batches: 2, oldest_dropped: null, rejected_batches: 1, code: 'window_too_old' };
    backend.emptyTypes = new Set(['lock_delay']);
    await enter(SERVICE);
    for (const name of ['panel-cpu', 'panel-lock']) {
      await page.getByTestId(name).getByText('2 batches of these nodes never came: collectors lost them').waitFor();
      await page.getByTestId(name).getByText('1 batch of these nodes was rejected, last as window_too_old').waitFor();
    }
  });

  it('offers wall time where it is recorded', async () => {
    await enter(SERVICE);
    await graph('cpu').waitFor();
    expect(await page.getByTestId('type-cpu').count()).toBe(0);
    backend.emptyTypes.delete('wall');
    await enter(SERVICE);
    await page.getByTestId('type-cpu').getByText('wall time').click();
    await attribute('cpu', 'data-type', 'wall');
    await eventually(() => address().searchParams.get('cpu'), 'wall');
    expect(await page.getByTestId('type-alloc').getByText('live').count()).toBe(0);
  });

  it('has the time range in the address', async () => {
    await enter(SERVICE);
    await page.getByTestId('range-presets').getByText('24h').click();
    await page.waitForURL(/range=24h/);
    await page.getByTestId('range-absolute').click();
    await page.getByLabel('From').fill('2026-01-31T10:00:00');
    await page.getByLabel('To', { exact: true }).fill('2026-01-31T09:00:00');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('The start must be before the end.').waitFor();
    await page.getByLabel('To', { exact: true }).fill('2026-01-31T11:30:00');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(/from=2026-01-31T/);
    const asked = () => new URL(`http://x${backend.calls[backend.calls.length - 1]!.url}`).searchParams;
    await eventually(() => Number(asked().get('to')) - Number(asked().get('from')), 90 * 60 * 1000);
  });

  it('lists top methods, and finds one in the graphs', async () => {
    await enter(SERVICE);
    const table = page.getByTestId('top-table');
    await table.waitFor();
    expect(await table.getByRole('row').nth(1).textContent()).toBe('9.2 s20.4 %9.2 s20.4 %com.acme.search.Postings.intersectjava');
    await table.getByRole('button', { name: 'com.acme.search.Postings.intersect' }).click();
    await graph('cpu').getByText('20.4 % matched').waitFor();
  });

  it('says why there is nothing, by the reasons that the collectors gave', async () => {
    backend.emptyTypes = new Set(['lock_delay']);
    await enter(SERVICE);
    await page.getByTestId('panel-lock').getByTestId('empty').getByText('had nothing of this kind').waitFor();
    const broken = { state: 'failed', reason: 'no_exec_dir', message: 'No place to load a library from.', fix: 'Mount an emptyDir.', last_window: null };
    backend.targets = [target(broken), target({ ...broken, pid: 4712 }), target({ state: 'off', reason: 'disabled', message: 'Nobody asked.', pid: 9 })];
    await page.reload();
    const empty = page.getByTestId('panel-lock').getByTestId('empty');
    await empty.getByText('2 JVMs: no_exec_dir. No place to load a library from. Mount an emptyDir.').waitFor();
    expect(await page.getByTestId('target-list').getByText('3 JVMs: 2 failed, 1 off').isVisible()).toBe(true);
    expect(await page.getByTestId('target-table').isVisible()).toBe(true);
    await screenshot(page, 'app-empty');
  });

  it.each([
    ['flamegraph', 504, 'query_timeout', 'The query timed out'],
    ['flamegraph', 410, 'expired', 'Expired by retention'],
    ['flamegraph', 503, 'store_unavailable', 'The store is down'],
    ['flamegraph', 500, 'odd', 'This could not be loaded'],
    ['*', 403, 'forbidden_scope', 'Outside your scope'],
  ])('tells %s %i %s apart', async (call, status, code, title) => {
    backend.failures.set(call, { status, code, message: 'The words of the backend.' });
    await enter(SERVICE);
    const notice = page.getByTestId(`error-${code}`).first();
    await notice.waitFor();
    expect(await notice.textContent()).toContain(title);
    expect(await notice.textContent()).toContain('The words of the backend.');
  });

  it('keeps the picture when a refresh fails, and says so', async () => {
    await enter(`${SERVICE}&range=5m`);
    await graph('cpu').waitFor();
    backend.failures.set('flamegraph', { status: 504, code: 'query_timeout', message: 'Too long.' });
    await page.getByTestId('panel-cpu').getByTestId('stale').waitFor();
    expect(await graph('cpu').isVisible()).toBe(true);
  });

  it.each(['light', 'dark'] as const)('passes axe in %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await enter(SERVICE);
    await page.getByTestId('top-table').waitFor();
    await graph('lock').waitFor();
    await screenshot(page, `app-service-${colorScheme}`);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.goto(`${origin}/services`);
    await page.getByTestId('services-table').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await screenshot(page, `app-services-${colorScheme}`);
  });
});
