// SPDX-License-Identifier: Apache-2.0
// The same deadlock in three JVMs ends in three ways, which API and pages tell apart: its cycle is resolved, its JVM is
// killed, its collector is killed.
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
const versions = { untied: 17, killed: 21, left: 25 };
const source = join(import.meta.dirname, 'programs/Contention.java');
let stack;
const { step, failed } = steps(skip);

const ask = (call, workload) => stack.api.get(`/v1/${call}?${new URLSearchParams({ namespace: '', workload })}`);
const program = (workload) => stack.programs.find((one) => one.name === workload);

// The deadlock of five threads, of which some can be interrupted.
async function deadlockOf(workload) {
  const { deadlocks } = await ask('deadlocks', workload);
  return deadlocks.find((one) => one.threads.length === 5);
}

const ended = (workload, reason) =>
  until(`the deadlock of ${workload} ends: ${reason}`, async () => {
    const one = await deadlockOf(workload);
    return one.end_reason === reason && one;
  });

before(async () => {
  if (skip) return;
  stack = new Stack('deadlock-ends');
  execFileSync('javac', ['--release', '11', '-d', stack.dir, source]);
  await stack.backend({ args: ['--status-silent-after=10s'] });
  for (const [workload, version] of Object.entries(versions)) await stack.program(workload, version, 'Contention');
  await stack.attachd();
  // Left to its own settings the collector would seem silent between any two reports.
  await stack.collector({ threads: '1s', status: '60s' });
});

after(() => stack?.close(failed()));

step('the same deadlock lasts in three JVMs', async () => {
  for (const workload of Object.keys(versions)) program(workload).child.stdin.write('deadlock\n');
  for (const workload of Object.keys(versions)) {
    const one = await until(`the deadlock of ${workload} is seen twice`, async () => {
      const seen = await deadlockOf(workload);
      return seen?.last_seen > seen?.first_seen && seen;
    });
    assert.equal(one.ended, null);
  }
});

step('a collector that has nothing new to say is not silent', async () => {
  const begin = Date.now();
  await until('more than the time of silence has passed', async () => {
    const { targets } = await stack.api.get('/v1/status');
    for (const { state, workload } of targets) if (workload in versions) assert.equal(state, 'profiling', workload);
    return Date.now() > begin + 12_000;
  });
});

step('a cycle that is resolved, a killed JVM and a killed collector end it, told apart', async () => {
  program('untied').child.stdin.write('untie\n');
  await ended('untied', 'resolved');

  const before = Date.now();
  await stack.end(program('killed'), 'SIGKILL');
  const killed = await ended('killed', 'jvm_ended');
  const { targets } = await ask('status', 'killed');
  assert.deepEqual(
    targets.map(({ state, reason }) => [state, reason]),
    [['exited', 'process_exited']],
  );
  assert.equal(killed.ended, targets[0].observed);
  assert.ok(Date.parse(killed.ended) >= before, `${killed.ended} is before the JVM's end`);

  await stack.end(stack.collectorProgram, 'SIGKILL');
  const left = await ended('left', 'collector_silent');
  assert.equal(left.ended, left.last_seen);
  // Facts from before the collector's end stay known.
  await ended('untied', 'resolved');
  await ended('killed', 'jvm_ended');
});

step('the pages show each end', async () => {
  const standings = { untied: 'the threads went on', killed: 'the JVM ended', left: 'not known: collector silent' };
  await withPage(async (page, errors) => {
    await page.goto(`${stack.url}/#code=e2e-one-time-code-0123456789`);
    await page.getByTestId('services-table').waitFor();
    await page.goto(`${stack.url}/deadlocks`);
    const rows = page.getByTestId('deadlock-table').locator('tbody tr').filter({ hasText: '5 threads' });
    for (const [workload, standing] of Object.entries(standings))
      await rows.filter({ has: page.getByRole('link', { name: workload, exact: true }) }).getByText(standing).waitFor();
    await page.goto(`${stack.url}/services/-/killed/targets`);
    await page.locator('[data-testid="target-table"] tr[data-state="exited"]').waitFor();
    assert.deepEqual(errors, []);
  });
});

step('a collector that comes back sees the deadlock go on, as one event', async () => {
  await stack.collector({ threads: '1s', status: '60s' });
  await until('it lasts', async () => (await deadlockOf('left')).ended === null);
  const { deadlocks } = await ask('deadlocks', 'left');
  assert.equal(deadlocks.length, 2);
  assert.equal((await deadlockOf('killed')).end_reason, 'jvm_ended');
});
