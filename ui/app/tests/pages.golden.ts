// SPDX-License-Identifier: Apache-2.0
// Pictures of each page in light and dark: a made-up shop, a fixed clock, and the fonts of Debian's fonts-dejavu-core.
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { matchesGolden } from '../../tests/pictures.ts';
import { retention } from './ledger.ts';
import { target } from './mock.ts';
import { backend, browser, complaints, enter, origin, page, serveApp } from './site.ts';

const { NOW } = vi.hoisted(() => {
  const now = Date.parse('2026-01-31T09:00:00Z');
  vi.useFakeTimers({ toFake: ['Date'], now });
  return { NOW: now };
});

serveApp();

const SERVICE = '/services/shop/checkout';
const OPTIONS = '?cluster=local&range=1h';
/** `low`: what must be in the picture, where that is not the page's head. */
const PAGES: [name: string, address: string, ready: string, low?: string][] = [
  ['services', '/services', 'services-table'],
  ['targets', '/targets', 'target-table'],
  ['ingestion', '/ingestion?range=1h', 'retention-table'],
  ['ingestion-store', '/ingestion?range=1h', 'retention-table', 'sums'],
  ['deadlocks', '/deadlocks', 'deadlock-link'],
  ['deadlock', '/deadlocks/00000000000012ab-00000000000000aa', 'cycle'],
  ['overview', SERVICE + OPTIONS, 'panel-locks'],
  ['cpu', `${SERVICE}/cpu${OPTIONS}`, 'busy-table'],
  ['memory', `${SERVICE}/memory${OPTIONS}`, 'flamegraph-alloc'],
  ['locks', `${SERVICE}/locks${OPTIONS}`, 'locks-table'],
  ['threads', `${SERVICE}/threads${OPTIONS}`, 'lane'],
  ['thread', `${SERVICE}/threads/00000000000012ab/34${OPTIONS}`, 'spell'],
  ['service-targets', `${SERVICE}/targets${OPTIONS}`, 'target-table'],
];

const REASON = {
  reason: 'no_exec_dir',
  message: "The JVM's file system has no writable directory from which it can load a library.",
  fix: 'Mount an emptyDir without noexec in the container, for example at /tmp.',
  detail: '/tmp: read-only',
};

/** Tables that are wider than their frame, by label. */
function clippedTables(): (string | null)[] {
  const frames = [...document.querySelectorAll('table')].map((table) => table.parentElement!);
  return frames.filter((frame) => frame.scrollWidth > frame.clientWidth).map((frame) => frame.getAttribute('aria-label'));
}

/** From here up every page works without scrolling sideways. */
const NARROW = 1024;

beforeAll(() => expect(NOW).toBe(Date.now()));

describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
  it.each([['login', '/login', 'token-input'] as (typeof PAGES)[number], ...PAGES])('%s', async (name, address, ready, low) => {
    backend.targets = [
      target({}),
      target({ pid: 4712, jvm: '00000000000012ac', pod: 'checkout-6d5f7-9qk4z', state: 'failed', session: '', coverage: null, ...REASON }),
      target({ pid: 4713, jvm: '00000000000012ad', pod: 'checkout-6d5f7-m7w2p', state: 'off', mode: 'off', session: '', coverage: null }),
    ];
    if (name === 'ingestion-store')
      backend.change = (path, body) => (path === '/v1/retention' ? retention({ lag: 8 * 3600, rollups: { pending_hours: 5 } }) : body);
    await page.clock.setFixedTime(NOW);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    if (name === 'login') await page.goto(origin + address);
    else await enter(address);
    await page.getByTestId(ready).first().waitFor();
    await page.waitForLoadState('networkidle');
    if (low !== undefined) await page.getByTestId(low).scrollIntoViewIfNeeded();
    await page.evaluate(async () => {
      document.body.style.fontFamily = '"DejaVu Sans", sans-serif';
      document.documentElement.style.setProperty('--hs-font', '"DejaVu Sans", sans-serif');
      document.documentElement.style.setProperty('--hs-mono', '"DejaVu Sans Mono", monospace');
      window.dispatchEvent(new Event('resize'));
      await document.fonts.ready;
      for (let frames = 0; frames < 5; frames++) await new Promise(requestAnimationFrame);
    });
    expect(await page.evaluate(clippedTables)).toEqual([]);
    const { width, height } = page.viewportSize()!;
    await page.setViewportSize({ width: NARROW, height });
    expect(await page.evaluate(clippedTables)).toEqual([]);
    await page.setViewportSize({ width, height });
    const blank = await browser.context.newPage();
    try {
      await matchesGolden(page, blank, `${name}-${colorScheme}`);
    } finally {
      await blank.close();
    }
    expect(complaints).toEqual([]);
  });
});
