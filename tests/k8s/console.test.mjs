// SPDX-License-Identifier: Apache-2.0
// From annotations of pods at a real API server, with JVMs in real containers, to the console in a browser: the flame
// graph of a pod, and the page Targets with the reason and the fix of each thing that can go wrong.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before } from 'node:test';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openPage } from '../e2e/lib/browser.mjs';
import { build, missing, programs, threadAgent } from '../e2e/lib/parts.mjs';
import { until } from '../e2e/lib/process.mjs';
import { Stack } from '../e2e/lib/stack.mjs';
import { steps } from '../e2e/lib/steps.mjs';

// serve_node.py: each call is a line to it, and its answer a line back.
class Node {
  constructor() {
    const classes = join(build, 'daemons/shared/attachclient/tests');
    const args = [programs.attachd, programs.worker, programs.collector, classes, threadAgent, join(build, 'tests/k8s')];
    this.child = spawn('python3', [join(import.meta.dirname, 'serve_node.py'), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    this.ended = new Promise((resolve) => this.child.on('exit', resolve));
  }

  async line() {
    const { value, done } = await this.lines.next();
    if (done) throw new Error('serve_node.py has ended');
    return JSON.parse(value);
  }

  async call(...words) {
    this.child.stdin.write(JSON.stringify(words) + '\n');
    const { answer, error } = await this.line();
    if (error) throw new Error(`${words[0]}: ${error}`);
    return answer;
  }

  end() {
    this.child.stdin.end();
    return this.ended;
  }
}

const node = new Node();
const skip =
  missing('backend', 'attachd', 'collector', 'chdb', 'profiler', 'threadAgent', 'chromium', 'ui') || ((await node.line()).missing ?? false);
const { step, failed } = steps(skip);
const apps = 'apps/v1';
const workloads = {
  checkout: { count: 8, owner: ['ReplicaSet', 'checkout-6d4b75cb6d', apps], labels: { 'pod-template-hash': '6d4b75cb6d' } },
  cart: { count: 6, owner: ['StatefulSet', 'cart', apps], labels: {} },
  agent: { count: 3, owner: ['DaemonSet', 'agent', apps], labels: {} },
  report: { count: 3, owner: ['Job', 'report-29403360', 'batch/v1'], labels: {} },
};
const podOf = (workload, i) => `${workload}-${i}`;
const podsOf = (workload) => Array.from({ length: workloads[workload].count }, (_, i) => podOf(workload, i));
const flags = ['--status-interval=2s'];
let stack, page, errors, close;

before(async () => {
  if (skip) return;
  stack = new Stack('annotation');
  await stack.backend({ args: ['--status-silent-after=15s'] });
  await node.call('start', stack.port, 'e2e-collector-token-0123456789', flags);
  ({ page, errors, close } = await openPage());
  await logIn();
});

after(async () => {
  await close?.();
  if (failed()) console.log((await node.call('log', 'collector')).replaceAll(/^/gm, '# '));
  await node.end();
  await stack?.close(failed());
});

async function logIn() {
  await page.goto(`${stack.url}/#code=e2e-one-time-code-0123456789`);
  await page.getByTestId('services-table').or(page.getByTestId('empty')).first().waitFor();
}

const open = (workload, tab, search = '') => page.goto(`${stack.url}/services/shop/${workload}/${tab}${search}`);

async function statusOf(pod) {
  const { targets } = await stack.api.get('/v1/status?limit=10000');
  return targets.filter((one) => one.pod === pod);
}

// Waits until this reason is in the history of the pod's JVM since `since`, in the API and then on the page, with its sentence.
async function remembers(pod, jvm, reason, { since = '', meanwhile = () => {} } = {}) {
  const spell = await until(`${pod} has had ${reason}`, async () => {
    const { history } = await stack.api.get(`/v1/status?namespace=shop&workload=${pod}&jvm=${jvm}`);
    const found = history.find((one) => one.reason === reason && one.observed > since);
    if (!found) await meanwhile();
    return found;
  }, { every: 500 });
  await open(pod, 'targets');
  await page.getByTestId('target-table').getByRole('button', { name: /history/ }).click();
  await page.getByTestId('target-history').locator('tr', { hasText: reason }).filter({ hasText: spell.message }).first().waitFor();
}

// Waits for this state of the pod's JVM in the API, then on the page, with the reason's sentence, its fix, and these words.
async function shows(pod, { workload = pod, words = '', meanwhile = () => {}, ...wanted }) {
  const target = await until(`${pod} is ${JSON.stringify(wanted)}`, async () => {
    await meanwhile();
    const [found] = await statusOf(pod);
    const fits = found && Object.entries(wanted).every(([key, value]) => found[key] === value) && found.detail.includes(words);
    if (!fits) throw new Error(`${found?.state} ${found?.reason} ${found?.detail} ${JSON.stringify(found)}`);
    return found;
  });
  await open(workload, 'targets', `?pod=${pod}`);
  const row = page.getByTestId('target-table').locator(`tbody tr[data-state="${target.state}"]`, { hasText: pod });
  await row.waitFor();
  if (wanted.mode) await row.getByText(wanted.mode).waitFor();
  if (!target.reason) return target;
  const verdict = page.getByTestId('verdict').filter({ hasText: target.reason });
  await verdict.waitFor();
  const text = await verdict.textContent();
  for (const part of [target.message, target.fix, words]) assert.ok(text.includes(part), `${pod}: "${text}" lacks "${part}"`);
  return target;
}

step('every JVM of this node is on the page Targets with the name of its workload, and none of another node', async () => {
  for (const [workload, { owner, labels }] of Object.entries(workloads))
    for (const pod of podsOf(workload)) await node.call('pod', pod, 'node7', owner, labels);
  const { owner, labels } = workloads.checkout;
  for (let i = 8; i < 12; i++) {
    await node.call('pod', podOf('checkout', i), 'node8', owner, labels);
    await node.call('running', podOf('checkout', i));
  }
  await node.call('run', Object.keys(workloads).flatMap(podsOf), {});
  for (const [workload, { count }] of Object.entries(workloads)) {
    await until(`the JVMs of ${workload} are told`, async () => {
      const { targets } = await stack.api.get('/v1/status?limit=10000');
      const mine = targets.filter((one) => one.namespace === 'shop' && one.workload === workload);
      return mine.length === count && mine.every((one) => one.state === 'off' && one.reason === 'disabled');
    });
    await open(workload, 'targets');
    await page.getByTestId('target-summary').getByText(`${count} JVMs: ${count} off`).waitFor();
  }
  assert.deepEqual(await statusOf(podOf('checkout', 8)), []);
});

step('an annotated pod has a flame graph with its method, and its neighbours have none', async () => {
  await node.call('annotate', podOf('checkout', 0), { profile: 'continuous', threads: '2s' });
  await shows(podOf('checkout', 0), { workload: 'checkout', state: 'profiling', reason: '', mode: 'continuous' });
  await until('there are samples', async () => {
    const { profiles } = await stack.api.get('/v1/flamegraph?namespace=shop&workload=checkout&type=cpu');
    return BigInt(profiles[0].value_total) > 0n;
  });
  await open('checkout', 'cpu', `?pod=${podOf('checkout', 0)}`);
  const card = page.getByTestId('panel-cpu');
  const graph = page.getByTestId('flamegraph-cpu');
  await graph.waitFor();
  const search = card.getByTestId('search-input');
  await search.fill('Target\\.burn');
  await search.press('Enter');
  await card.getByTestId('matched-percent').getByText(/[1-9]/).waitFor();
  assert.match(await graph.getAttribute('data-active'), /^Target\.burn/);
  await open('checkout', 'cpu', `?pod=${podOf('checkout', 0)}&container=app&version=7.1`);
  await graph.waitFor();
  assert.equal(await page.getByTestId('filter-container').inputValue(), '=app');
  assert.equal(await page.getByTestId('filter-version').inputValue(), '=7.1');
  for (const other of ['pod=checkout-1', 'container=side', 'version=7.2']) {
    await open('checkout', 'cpu', `?${other}`);
    await card.waitFor();
    await card.getByTestId('empty').waitFor();
  }
  await open('checkout', 'targets', '?version=7.1&container=app');
  await page.getByTestId('target-summary').getByText('8 JVMs').waitFor();
  await open('checkout', 'targets', '?version=7.2');
  await page.getByTestId('target-summary').getByText('0 JVMs').waitFor();
  await open('checkout', 'targets');
  await page.getByTestId('target-summary').getByText('8 JVMs: 7 off, 1 profiling').waitFor();
});

step('an annotation that is wrong, changed, overruled, removed or expired is followed', async () => {
  const pod = podOf('checkout', 0);
  const of = { workload: 'checkout' };
  await node.call('annotate', pod, { profile: 'allways' });
  await shows(pod, { ...of, state: 'off', reason: 'invalid_setting', words: '"allways"' });
  await node.call('annotate', pod, { profile: null, profile_for: '20s' });
  const { mode_until } = await shows(pod, { ...of, state: 'profiling', mode: 'temporary' });
  assert.ok(Date.parse(mode_until) > 0);
  await shows(pod, { ...of, state: 'off', reason: 'expired' });
  await node.call('annotate', pod, { profile: 'continuous', profile_for: null });
  await shows(pod, { ...of, state: 'profiling', mode: 'continuous' });
  await node.call('annotate_namespace', { profile: 'off' });
  await shows(pod, { ...of, state: 'off', reason: 'switched_off', words: 'namespace shop' });
  await node.call('annotate_namespace', { profile: null });
  await shows(pod, { ...of, state: 'profiling', mode: 'continuous' });
  await node.call('annotate', pod, { startup_delay: '1d' });
  await node.call('annotate', podOf('cart', 0), { profile: 'continuous', startup_delay: '1d' });
  await shows(podOf('cart', 0), { workload: 'cart', state: 'waiting', reason: 'warming_up' });
  await node.call('annotate', pod, { profile: null });
  await shows(pod, { ...of, state: 'off', reason: 'disabled' });
});

// The failures that the console must show: each has a pod of its own, annotated before its JVM starts.
const cases = {
  discovery: [{ told: false }, { workload: 'unknown', reason: 'pod_unknown' }],
  attach: [{ jvm: ['-XX:+DisableAttachMechanism'] }, { state: 'failed', reason: 'attach_disabled' }],
  placement: [{ tmp: null }, { state: 'failed', reason: 'no_exec_dir', words: '/tmp' }],
  conflict: [
    { jvm: ['-agentpath:/profiler/libasyncProfiler.so=start,event=cpu,file=/tmp/theirs.jfr'], profiler: true },
    { state: 'failed', reason: 'external_profiler', words: '/profiler/libasyncProfiler.so' },
  ],
  hostile: [{ attack: 'link' }, { state: 'failed', reason: 'profiler_error', words: 'recording' }],
};

for (const [name, [options, { workload = name, ...wanted }]] of Object.entries(cases)) {
  step(`${name}: ${wanted.reason} is on the page with its fix`, async () => {
    await node.call('pod', name, 'node7', null, {}, { 'hotstack.dev/profile': 'continuous' });
    const [pid] = await node.call('run', [name], options);
    if (options.told !== false) {
      await shows(name, wanted);
    } else {
      const target = await until('the JVM is told as unknown', async () => {
        const { targets } = await stack.api.get('/v1/status?limit=10000');
        return targets.find((one) => one.pid === pid && one.state === 'unknown' && one.reason === wanted.reason);
      });
      await page.goto(`${stack.url}/targets?state=unknown`);
      await page.getByTestId('target-table').locator('tr', { hasText: String(pid) }).waitFor();
      const verdict = page.getByTestId('verdict').filter({ hasText: target.reason }).filter({ hasText: target.message });
      await verdict.filter({ hasText: target.fix }).first().waitFor();
    }
    await node.call('end', name);
    await node.call('delete', name);
  });
}

step('storage: a full /tmp is on the page with its fix, and so is the end of a pod that is evicted for it', async () => {
  await node.call('pod', 'storage', 'node7', null, {}, { 'hotstack.dev/profile': 'continuous' });
  await node.call('run', ['storage'], { tmp: ['size=16m'] });
  await shows('storage', { state: 'profiling', reason: '' });
  const fill = () => node.call('fill_tmp', 'storage');
  await shows('storage', { state: 'failed', reason: 'disk_full', words: '/tmp', meanwhile: fill });
  await node.call('evict', 'storage');
  await shows('storage', { state: 'exited', reason: 'process_exited' });
  await node.call('delete', 'storage');
});

step('lifecycle: a stopped JVM is on the page until it goes on', async () => {
  await node.call('pod', 'life', 'node7', null, {}, { 'hotstack.dev/profile': 'continuous' });
  await node.call('run', ['life'], { tmp: ['size=64m'] });
  await shows('life', { state: 'profiling', reason: '' });
  await node.call('signal', 'life', 'SIGSTOP');
  await shows('life', { state: 'failed', reason: 'target_stopped' });
  await node.call('signal', 'life', 'SIGCONT');
  await shows('life', { state: 'profiling', reason: '' });
});

step('parsing: a recording that cannot be read is in the history of its JVM, and profiles go on', async () => {
  const [{ jvm }] = await statusOf('life');
  const damage = () => node.call('damage', 'life').catch(() => {}); // there is no session for a moment
  await remembers('life', jvm, 'parse_failed', { meanwhile: damage });
  await shows('life', { state: 'profiling', reason: '' });
});

step('buffering: batches that were dropped while the backend was away are told', async () => {
  await node.call('restart_collector', [...flags, '--limits-queue-batches=2', '--upload-backoff-max=1s']);
  await shows('life', { state: 'profiling', reason: '' });
  const [{ jvm, observed }] = await statusOf('life');
  const { port } = stack;
  await stack.end(stack.backendProgram);
  const dropped = async () => {
    const metrics = await node.call('metrics');
    return Object.entries(metrics).some(([key, value]) => key.startsWith('queue_dropped') && value > 0);
  };
  await until('batches are dropped', dropped);
  await stack.backend({ port, args: ['--status-silent-after=15s'] });
  await logIn();
  await remembers('life', jvm, 'queue_full', { since: observed });
});

step('upload: where the backend refuses the token, the page says that the collector is silent, until it is heard again', async () => {
  await node.call('backend_token', 'wrong-token-0123456789');
  await shows('life', { state: 'failed', reason: 'collector_silent' });
  await node.call('backend_token', 'e2e-collector-token-0123456789');
  await shows('life', { state: 'profiling', reason: '' });
  await node.call('end', 'life');
  await until('its end is told', async () => (await statusOf('life'))[0]?.state === 'exited');
  assert.deepEqual(errors.filter((one) => !/40[13]|50[0-9]|Failed to (load|fetch)|ERR_/.test(one)), []);
});
