// SPDX-License-Identifier: Apache-2.0
// Real JVMs that give no thread snapshots: profiles go on, and the pages say which source is missing and why.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before } from 'node:test';
import { join } from 'node:path';
import { withPage } from './lib/browser.mjs';
import { fleetParts, missing } from './lib/parts.mjs';
import { until } from './lib/process.mjs';
import { Stack } from './lib/stack.mjs';
import { steps } from './lib/steps.mjs';

const skip = missing(...fleetParts);
const without = {
  'no-bean': { jvm: ['--limit-modules=java.base'], reason: 'thread_agent_error', words: /java\/lang\/management/ },
  'no-loading': { jvm: ['-XX:-EnableDynamicAgentLoading'], reason: 'dynamic_agent_loading_disabled', words: /EnableDynamicAgentLoading/ },
};
let stack, halting;
const { step, failed } = steps(skip);

const get = (call, workload, more = {}) =>
  stack.api.get(`/v1/${call}?${new URLSearchParams({ namespace: '', workload, ...more })}`);

async function target(workload) {
  const { targets } = await stack.api.get('/v1/status');
  const mine = targets.filter((one) => one.workload === workload);
  assert.equal(mine.length, 1);
  return mine[0];
}

// Windows with CPU time come although snapshots do not.
async function profilesGoOn(workload) {
  const total = async () => {
    const graph = await get('flamegraph', workload, { type: 'cpu' });
    return BigInt(graph.profiles[0].value_total);
  };
  const before = await total();
  await until(`profiles of ${workload} go on`, async () => (await total()) > before);
}

before(async () => {
  if (skip) return;
  stack = new Stack('sources');
  execFileSync('javac', ['-nowarn', '-source', '11', '-target', '11', '-d', stack.dir, join(import.meta.dirname, 'programs/Halting.java')], {
    stdio: 'ignore',
  });
  await stack.backend();
  for (const [name, { jvm }] of Object.entries(without)) await stack.program(name, 21, 'Halting', [], jvm);
  halting = await stack.program('halting', 17, 'Halting');
  await stack.attachd();
  await stack.collector({ threads: '2s', args: ['--session-operation-timeout=10s'] });
});

after(() => stack?.close(failed()));

step('without ThreadMXBean, or where no agent can be loaded, there are profiles and the reason', async () => {
  for (const [name, { reason, words }] of Object.entries(without)) {
    const answer = await until(`${name} says that it has no snapshots`, async () => {
      const got = await get('threads', name);
      return got.sources.missing.length > 0 && got;
    });
    assert.deepEqual(
      answer.sources.missing.map((one) => [one.source, one.reason]),
      [['snapshots', reason]],
    );
    assert.equal(answer.sources.snapshots, 0);
    for (const [call, list] of Object.entries({ 'threads/lanes': 'lanes', locks: 'locks', deadlocks: 'deadlocks' })) {
      const partial = await get(call, name);
      assert.deepEqual(partial[list], [], call);
      const [told] = partial.sources.missing;
      assert.deepEqual([told.source, told.reason], ['snapshots', reason], call);
      assert.ok(told.explanation !== '' && told.fix !== '', call);
    }
    await profilesGoOn(name);
    const { busy } = await get('threads', name);
    const worker = busy.find((one) => one.name === 'worker');
    assert.equal(worker.confidence, 'profile_only');
    const { state, detail } = await target(name);
    assert.equal(state, 'profiling');
    assert.match(detail, /no thread snapshot: /);
    assert.match(detail, words);
  }
});

step('a slow agent costs its snapshots time and nothing else', async () => {
  await until('there are snapshots', async () => (await get('threads', 'halting')).sources.snapshots >= 2);
  halting.child.stdin.write('slow\n');
  const { snapshots } = (await get('threads', 'halting')).sources;
  await until('slow snapshots come', async () => (await get('threads', 'halting')).sources.snapshots >= snapshots + 3);
  await profilesGoOn('halting');
});

step('snapshots that time out are told until they come again, and profiles go on', async () => {
  halting.child.stdin.write('halt\n');
  await until('the time-out is told', async () => {
    const { missing } = (await get('threads', 'halting')).sources;
    return missing.some((one) => one.reason === 'attach_timeout');
  });
  await profilesGoOn('halting');
  assert.match((await target('halting')).detail, /no thread snapshot: /);
  await withPage(async (page, errors) => {
    await page.goto(`${stack.url}/#code=e2e-one-time-code-0123456789`);
    await page.getByTestId('services-table').waitFor();
    const page_of = (workload, tab) => page.goto(`${stack.url}/services/-/${workload}/${tab}`);
    for (const tab of ['threads', 'locks', 'deadlocks']) {
      await page_of('halting', tab);
      await page.getByTestId('shortfalls').first().getByText('attach_timeout').waitFor();
      for (const [name, { reason }] of Object.entries(without)) {
        await page_of(name, tab);
        await page.getByTestId('no-snapshots').first().getByText(reason).waitFor();
      }
    }
    await page_of('no-bean', 'cpu');
    await page.getByTestId('busy-table').locator('tr', { hasText: 'worker' }).locator('[data-confidence="profile_only"]').waitFor();
    await page.getByTestId('flamegraph-cpu').waitFor();
    await page_of('no-bean', 'targets');
    await page.getByText('no thread snapshot').first().waitFor();
    assert.deepEqual(errors, []);
  });
  halting.child.stdin.write('free\n');
  await until('snapshots come again', async () => (await get('threads', 'halting')).sources.missing.length === 0);
});
