// SPDX-License-Identifier: Apache-2.0
// From live JVMs (11, 17, 21, 25) to the page, and the truth check: what the page shows = the rows
// in the store = what the collector sent = what the JDK reads from the same recordings.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { frameNames } from './lib/api.mjs';
import { withPage } from './lib/browser.mjs';
import { jdks, missing } from './lib/parts.mjs';
import { until } from './lib/process.mjs';
import { Stack } from './lib/stack.mjs';
import { steps } from './lib/steps.mjs';
import { withStore } from './lib/store.mjs';
import { storedTotals } from './lib/types.mjs';

const skip = missing(
  'backend',
  'attachd',
  'collector',
  'demo',
  'chdb',
  'chdbHttp',
  'profiler',
  'jdks',
  'chromium',
  'ui',
);
const hot = {
  cpu: 'dev.hotstack.demo.PriceEngine.computeDiscounts',
  alloc_bytes: 'dev.hotstack.demo.ReportBuilder.renderRows',
  alloc_objects: 'dev.hotstack.demo.ReportBuilder.renderRows',
  lock_delay: 'dev.hotstack.demo.InventoryLedger.reserve',
  lock_count: 'dev.hotstack.demo.InventoryLedger.reserve',
};
// Types that are recorded for demo-21 only.
const asked = ['wall', 'live_bytes', 'nativemem_bytes'];
const allEvents = 'cpu=10ms,alloc=256k,lock=1ms,wall=50ms,live,nativemem=64k';
// "demo-17b" is a second JVM of the same JDK.
const workloads = [...jdks.map((version) => [`demo-${version}`, version]), ['demo-17b', 17]];
let stack;
const { step, failed } = steps(skip);

before(async () => {
  if (skip) return;
  stack = new Stack('pipeline');
  await stack.backend();
  for (const [workload, version] of workloads)
    await stack.demo(workload, version, { load: 'low', events: version === 21 ? allEvents : undefined });
  await stack.attachd();
  await stack.collector();
});

after(() => stack?.close(failed()));

step('every JVM becomes a service with cpu, allocation and lock profiles', async () => {
  for (const [workload] of workloads) {
    const service = await stack.profiled(workload, Object.keys(hot));
    assert.equal(service.targets, 1);
  }
});

for (const [type, method] of Object.entries(hot)) {
  step(`${type}: the hot method of the demo service stands in the flame graph and in the top table`, async () => {
    for (const [workload] of workloads) {
      const graph = await stack.api.query('flamegraph', workload, type);
      assert.ok(frameNames(graph).includes(method), `${workload}: ${method} is missing`);
      assert.equal(graph.profiles[0].type, type);
      const top = await stack.api.query('top', workload, type);
      const row = top.rows.find((one) => `${one.class}.${one.method}` === method);
      assert.ok(row, `${workload}: ${method} is not in the top table`);
      assert.ok(BigInt(row.total) <= BigInt(top.total));
    }
  });
}

step('wall time, live objects and native memory of the JVM whose rule asks for them', async () => {
  await stack.profiled('demo-21', asked);
  for (const type of asked) {
    const graph = await stack.api.query('flamegraph', 'demo-21', type);
    assert.equal(graph.profiles[0].type, type);
    assert.ok(BigInt(graph.profiles[0].value_total) > 0n, type);
  }
  // Most threads of a JVM wait, so that its wall time passes its CPU time by far.
  const { types } = (await stack.api.services()).find((one) => one.workload === 'demo-21');
  assert.ok(BigInt(types.wall.value_total) > 2n * BigInt(types.cpu.value_total), JSON.stringify(types));
  // Running and waiting threads are apart, and nothing is in neither.
  const wall = async (facet) => {
    const graph = await stack.api.query('flamegraph', 'demo-21', 'wall', facet);
    return BigInt(graph.profiles[0].value_total);
  };
  await until('running and waiting threads make all wall time, with no window in between', async () => {
    const [all, running, waiting] = [await wall(''), await wall('facet=running'), await wall('facet=waiting')];
    return running > 0n && waiting > running && running + waiting === all;
  });
  await assert.rejects(stack.api.query('flamegraph', 'demo-21', 'cpu', 'facet=running'), /400.*this type has none/);
  const { types: others } = (await stack.api.services()).find((one) => one.workload === 'demo-17');
  for (const type of asked) assert.equal(others[type], undefined, type);
});

step('every JVM has a status that says that it is profiled', async () => {
  const { targets } = await stack.api.get('/v1/status');
  for (const [workload, version] of workloads) {
    const mine = targets.filter((target) => target.workload === workload);
    assert.equal(mine.length, 1);
    assert.equal(mine[0].state, 'profiling');
    assert.equal(mine[0].pid, stack.services.find((one) => one.workload === workload).pid);
    assert.match(mine[0].jvm_version, new RegExp(`^${version}\\.`));
  }
});

step('a new pid after a restart is another target of the same service', async () => {
  const old = stack.services.find((one) => one.workload === 'demo-17b');
  await stack.end(old);
  stack.services.splice(stack.services.indexOf(old), 1);
  const again = await stack.demo('demo-17b', 17, { load: 'low' });
  await until('the restarted JVM is profiled', async () => {
    const { targets } = await stack.api.get('/v1/status');
    return targets.find((one) => one.pid === again.pid && one.state === 'profiling' && one.last_window);
  });
});

step('the page: three graphs, search with its share, zoom, tooltip, top table', async () => {
  await withPage(async (page, errors) => {
    await page.goto(`${stack.url}/#code=e2e-one-time-code-0123456789`);
    await page.getByTestId('services-table').waitFor();
    assert.ok(!page.url().includes('e2e-one-time-code'), 'the code stays in the address');
    await page
      .getByTestId('service-link')
      .filter({ hasText: /^demo-21$/ })
      .click();
    for (const [panel, type] of [
      ['cpu', 'cpu'],
      ['alloc', 'alloc_bytes'],
      ['lock', 'lock_delay'],
    ]) {
      const graph = page.getByTestId(`flamegraph-${panel}`);
      await graph.waitFor();
      const card = page.getByTestId(`panel-${panel}`);
      const search = card.getByTestId('search-input');
      await search.fill(hot[type].replaceAll('.', '\\.'));
      await search.press('Enter');
      const matched = await card.getByTestId('matched-percent').innerText();
      const percent = Number(/([\d.]+)\s*%/.exec(matched)?.[1]);
      assert.ok(percent > 1 && percent <= 100, `${panel}: "${matched}"`);
      const active = await graph.getAttribute('data-active');
      assert.ok(active.startsWith(hot[type]), `${panel}: the search led to "${active}"`);
      assert.match(active, /self .*, total .*, .* %/);
      await card.getByTestId('flamegraph-canvas').focus();
      await page.keyboard.press('Enter');
      assert.match(await graph.getAttribute('data-zoom'), new RegExp(hot[type].split('.').at(-1)));
      await page.keyboard.press('Escape');
    }
    await page.getByTestId('timeline-cpu').waitFor();
    const canvas = page.getByTestId('panel-cpu').getByTestId('flamegraph-canvas');
    await canvas.hover({ position: { x: 60, y: 30 } });
    await page.getByTestId('tooltip').filter({ visible: true }).first().waitFor();
    await page.getByTestId('top-table').first().getByText('computeDiscounts').first().waitFor();
    assert.deepEqual(errors, []);
  });
});

step('truth: page = store = sent = what the JDK reads from the same recordings', async () => {
  await stack.end(stack.collectorProgram);
  const sent = stack.sentTotals();
  const truth = await stack.truthTotals();
  for (const type of [...Object.keys(hot), ...asked]) assert.ok(truth[type] > 0n, `the recordings hold no ${type}`);
  assert.deepEqual(nonZero(sent), truth);

  // The same values over time: every second of every window is there.
  for (const [workload] of workloads) {
    for (const type of Object.keys(hot)) {
      const [timeline, top] = await Promise.all(['timeline', 'top'].map((call) => stack.api.query(call, workload, type)));
      assert.equal(timeline.total, top.total, `${workload} ${type}`);
      assert.ok(timeline.values.includes(null), 'the time before the service was recorded');
    }
  }
  const shown = await shownTotals();
  await stack.end(stack.backendProgram);
  await withStore(stack, async (query) => {
    const stored = await storedTotals(query, 'profile_samples', 'workload');
    for (const [key, raw] of Object.entries(shown)) assert.equal(raw, stored[key], `the page's ${key}`);
    assert.deepEqual(sumByType(stored), nonZero(sent));
    assert.deepEqual(await storedTotals(query, 'profile_windows'), nonZero(sent), 'the windows of the store');

    // The same frames have one id in every JVM, restart and JDK.
    const [ids] = await query(
      `SELECT countIf(ids > 1) AS split, countIf(jvms > 1) AS shared, countIf(jdks > 1) AS across FROM (
         SELECT uniqExact(id) AS ids, uniqExact(target) AS jvms, uniqExact(jdk) AS jdks
         FROM (SELECT DISTINCT stack_id AS id, class, method, line, kind FROM profile_stacks) AS known
         INNER JOIN (SELECT DISTINCT stack_id AS id, target_id AS target FROM profile_samples) AS used USING (id)
         INNER JOIN (SELECT DISTINCT target_id AS target, jvm_version AS jdk FROM profile_windows) AS run USING (target)
         GROUP BY class, method, line, kind)`,
    );
    assert.equal(Number(ids.split), 0, 'equal frames with different ids');
    assert.ok(Number(ids.shared) > 0, 'no stack was seen in two JVMs');
    assert.ok(Number(ids.across) > 0, 'no stack was seen on two JDKs');
  });
});


function nonZero(totals) {
  return Object.fromEntries(Object.entries(totals).filter(([, raw]) => raw > 0n));
}

function sumByType(stored) {
  const sums = {};
  for (const [key, raw] of Object.entries(stored)) {
    const type = key.split(' ')[1];
    sums[type] = (sums[type] ?? 0n) + raw;
  }
  return nonZero(sums);
}

// The exact raw totals that the page prints, by "workload type".
async function shownTotals() {
  const shown = {};
  await withPage(async (page) => {
    await stack.logIn(page);
    for (const [workload] of workloads) {
      await page.goto(`${stack.url}/services/-/${workload}?range=24h`);
      for (const [panel, types] of [
        ['cpu', []],
        ['alloc', ['objects', 'bytes']],
        ['lock', ['count', 'delay']],
      ]) {
        const card = page.getByTestId(`panel-${panel}`);
        for (const choice of types.length > 0 ? types : [null]) {
          if (choice) await card.getByTestId(`type-${panel}`).getByText(choice, { exact: true }).click();
          const type =
            { objects: 'alloc_objects', bytes: 'alloc_bytes', count: 'lock_count', delay: 'lock_delay' }[choice] ??
            'cpu';
          const total = card.locator(`[data-testid="raw-total"][data-type="${type}"]`);
          await total.waitFor();
          shown[`${workload} ${type}`] = BigInt(await total.getAttribute('data-exact'));
        }
      }
    }
  });
  return shown;
}
