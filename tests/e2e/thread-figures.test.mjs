// SPDX-License-Identifier: Apache-2.0
// Whether the figures about threads are true and bounded: CPU time against the kernel's, waiting time against the
// profile's, and a JVM of 5,000 threads in store, command line and page.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before } from 'node:test';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withPage } from './lib/browser.mjs';
import { build, fleetParts, missing, programs, threadAgent } from './lib/parts.mjs';
import { run, until } from './lib/process.mjs';
import { Stack } from './lib/stack.mjs';
import { steps } from './lib/steps.mjs';

const skip = missing(...fleetParts, 'cli');
const versions = [17, 21, 25];
const seconds = Number(process.env.HOTSTACK_CPU_SECONDS ?? 30);
const shares = ['share-of-4', 'share-of-8', 'share-of-16'];
const threads = 5000;
const limit = 2000;
let stack, crowd;
const { step, failed } = steps(skip);

const get = (call, workload, more = {}) =>
  stack.api.get(`/v1/${call}?${new URLSearchParams({ namespace: '', workload, ...more })}`);

before(async () => {
  if (skip) return;
  stack = new Stack('figures');
  const sources = ['Shares', 'Crowd'].map((name) => join(import.meta.dirname, `programs/${name}.java`));
  execFileSync('javac', ['--release', '11', '-d', stack.dir, ...sources]);
  await stack.backend();
  for (const version of versions) await stack.program(`shares-${version}`, version, 'Shares');
  crowd = await stack.program('crowd', 21, 'Crowd', [String(threads)]);
  await stack.attachd();
  await stack.collector({ threads: '2s', args: [`--limits-snapshot-threads=${limit}`] });
});

after(() => stack?.close(failed()));

// Reads the kernel's figure of a thread's CPU time repeatedly: [ms since 1970, ns].
class Watch {
  constructor(pid, tid) {
    this.file = `/proc/${pid}/task/${tid}/schedstat`;
    this.seen = [];
  }

  look() {
    this.seen.push([Date.now(), Number(readFileSync(this.file, 'utf8').split(' ')[0])]);
  }

  // The CPU time at a moment between two looks.
  at(ms) {
    const next = this.seen.findIndex(([time]) => time >= ms);
    assert.ok(next > 0, 'the watch began too late');
    const [[t0, ns0], [t1, ns1]] = [this.seen[next - 1], this.seen[next]];
    return ns0 + ((ns1 - ns0) * (ms - t0)) / (t1 - t0 || 1);
  }
}

async function watched() {
  const found = [];
  for (const version of versions) {
    const workload = `shares-${version}`;
    const { pid } = stack.programs.find((one) => one.name === workload);
    const busy = await until(`the kernel's ids of the threads of JDK ${version} are known`, async () => {
      const answer = await get('threads', workload, { busy: 0 });
      const mine = answer.busy.filter((one) => shares.includes(one.name));
      return mine.length === shares.length && mine.every((one) => one.os_tid > 0) && mine;
    });
    for (const { name, jvm, java_tid, os_tid } of busy)
      found.push({ workload, name, jvm, java_tid, watch: new Watch(pid, os_tid) });
  }
  return found;
}

step(`a thread's share of a core is what /proc says, within 2 % over ${seconds} s`, async (t) => {
  const all = await watched();
  for (const end = Date.now() + (seconds + 5) * 1000; Date.now() < end; await delay(50))
    for (const { watch } of all) watch.look();
  for (const { workload, name, jvm, java_tid, watch } of all) {
    const [first, last] = [watch.seen[0][0], watch.seen.at(-1)[0]];
    const lengthOf = (found) => found.reduce((sum, { interval_ms }) => sum + interval_ms, 0);
    const within = await until(`${workload}: the snapshots of ${seconds} s are stored`, async () => {
      const { snapshots } = await get('threads/one', workload, { jvm, java_tid, limit: 1000 });
      const found = snapshots
        .map((one) => ({ ...one, end: Date.parse(one.time) }))
        .filter(({ end, interval_ms, cpu_ns }) => cpu_ns !== null && end - interval_ms > first && end < last);
      return lengthOf(found) > seconds * 900 && found;
    });
    const length = lengthOf(within);
    const begin = Math.min(...within.map(({ end, interval_ms }) => end - interval_ms));
    const end = Math.max(...within.map((one) => one.end));
    const told = within.reduce((sum, { cpu_ns }) => sum + Number(cpu_ns), 0);
    const ours = told / (length * 1e6);
    const kernel = (watch.at(end) - watch.at(begin)) / ((end - begin) * 1e6);
    t.diagnostic(`${workload} ${name}: ${ours.toFixed(5)} cores, /proc ${kernel.toFixed(5)}`);
    assert.ok(Math.abs(ours / kernel - 1) < 0.02, `${workload} ${name}: ${ours} cores, /proc says ${kernel}`);
  }
});

step('the waiting time of a lock is what the profile says of its class', async () => {
  for (const version of versions) {
    for (const [pool, cls] of [
      ['till-#', 'Shares$Till'],
      ['gate-#', 'java.util.concurrent.locks.ReentrantLock$NonfairSync'],
    ]) {
      await until(`${cls} of JDK ${version}: both say the same`, async () => {
        const range = { from: 0, to: Date.now(), pool };
        const { locks } = await get('locks', `shares-${version}`, range);
        const graph = await get('flamegraph', `shares-${version}`, { ...range, type: 'lock_delay' });
        const told = locks.find((one) => one.class === cls)?.delay_ns ?? 0;
        const profiled = Number(graph.profiles[0].value_total);
        if (Number(told) !== profiled) throw new Error(`the lock ${told}, the profile ${profiled}`);
        return profiled > 1e9;
      });
    }
  }
});

step('a JVM of 5,000 threads is bounded in the store, and the answers say so', async () => {
  const answer = await until('the crowd has been looked at twice', async () => {
    const got = await get('threads', 'crowd', { busy: 0 });
    return got.sources.snapshots >= 2 && got;
  });
  assert.equal(answer.sources.threads_cut, answer.sources.snapshots);
  assert.equal(answer.busy.length, 100);
  assert.equal(answer.meta.truncated, true);
  const { lanes } = await get('threads/lanes', 'crowd');
  const listed = lanes.reduce((sum, lane) => sum + lane.threads, 0);
  // Which ones are listed changes with each snapshot.
  assert.ok(listed >= limit / 2 && listed < 2 * limit, `${listed} threads`);
  // The two youngest threads use no CPU time: others would be listed in their place.
  const { deadlocks } = await get('deadlocks', 'crowd');
  assert.deepEqual(deadlocks.map((one) => one.threads.map(({ name }) => name).sort()), [['last-left', 'last-right']]);
});

step('the command line says what it leaves out, as text and as JSON', async () => {
  const env = { HOTSTACK_ATTACH_WORKER: programs.worker, HOTSTACK_THREAD_AGENT: threadAgent, HOTSTACK_DATADIR: `${build}/ui` };
  const ask = (...args) => run(programs.cli, ['threads', `--max-threads=${limit}`, ...args, String(crowd.pid)], { env });
  const json = await ask('--json');
  const { meta, deadlocks, ...lists } = JSON.parse(json.stdout);
  assert.equal(meta.threads, limit);
  assert.ok(meta.threads_total > threads);
  assert.ok(meta.cut.includes('threads'));
  assert.equal(deadlocks.length, 1);
  const counts = ['busy', 'blocked', 'unknown_holder', 'class_initialisation', 'waiting'].map((name) => lists[name].length);
  assert.equal(counts.reduce((sum, one) => sum + one, 0), limit);
  const text = await ask();
  assert.match(text.stdout + text.stderr, /cut short: .*threads/);
  assert.ok(text.stdout.split('\n').length < 200, 'the text is as long as the list of threads');
});

step('the page shows the pool, says that threads are left out, and shows the deadlock', async () => {
  await withPage(async (page, errors) => {
    await stack.logIn(page); // the one-time code has expired after a soak
    await page.getByTestId('services-table').waitFor();
    errors.length = 0; // the browser tells of the 401 before the login
    const service = `${stack.url}/services/-/crowd`;
    // After a soak of ten minutes the usual range has more than a million rows.
    await page.goto(`${service}/threads?range=5m`);
    await page.locator('[data-testid="lane"][data-pool="crowd-#"]').waitFor();
    await page.getByTestId('shortfalls').first().getByText('fewer threads than the JVM has').waitFor();
    await page.locator('[data-testid="lane"][data-pool="crowd-#"]').press('Enter');
    await page.getByText(/^None of the \d,\d{3} threads was busy or waited for a lock/).waitFor();
    await page.goto(`${service}/deadlocks`);
    await page.getByTestId('deadlock-link').filter({ hasText: '2 threads' }).waitFor();
    await page.goto(`${stack.url}/services/-/shares-21/locks`);
    const waited = page.getByTestId('locks-table').locator('tr', { hasText: 'Shares$Till' }).locator('td').nth(3);
    await waited.filter({ hasText: /^[\d.]+ (ms|s|min)$/ }).waitFor();
    assert.deepEqual(errors, []);
  });
});
