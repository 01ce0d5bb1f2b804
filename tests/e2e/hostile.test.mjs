// SPDX-License-Identifier: Apache-2.0
// Tests attacks and mistakes: tokens, sizes, garbage, configuration.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { missing, programs } from './lib/parts.mjs';
import { run, until } from './lib/process.mjs';
import { Stack } from './lib/stack.mjs';

const skip = missing('backend', 'chdb');
const collectorToken = { authorization: 'Bearer e2e-collector-token-0123456789' };
let stack;

before(async () => {
  if (skip) return;
  stack = new Stack('hostile');
  await stack.backend();
});
after(() => stack?.close());

const calls = [
  ['GET', '/v1/services'],
  ['GET', '/v1/services/-/demo'],
  ['GET', '/v1/flamegraph?namespace=&workload=demo&type=cpu'],
  ['GET', '/v1/top?namespace=&workload=demo&type=cpu'],
  ['GET', '/v1/status'],
  ['GET', '/metrics'],
  ['POST', '/v1/ingest/profiles'],
  ['POST', '/v1/ingest/status'],
  ['POST', '/v1/ingest/heartbeat'],
];

for (const [method, path] of calls) {
  test(`${method} ${path}: 401 without a token and with a wrong one, and no data`, { skip }, async () => {
    for (const headers of [{}, { authorization: 'Bearer wrong-token-0123456789' }, { cookie: 'hotstack=forged' }]) {
      const answer = await fetch(stack.url + path, { method, headers, body: method === 'POST' ? 'x' : undefined });
      assert.equal(answer.status, 401);
      const text = await answer.text();
      assert.ok(text.length < 400 && !text.includes('demo'), text);
    }
  });
}

test('a user token sends nothing, a collector token reads nothing', { skip }, async () => {
  const user = await stack.api.fetch('/v1/ingest/profiles', {
    method: 'POST',
    body: 'x',
    headers: { 'content-type': 'application/x-protobuf' },
  });
  assert.equal(user.status, 403);
  const collector = await fetch(`${stack.url}/v1/services`, { headers: collectorToken });
  assert.equal(collector.status, 403);
});

test('healthz and readyz say their state and no more', { skip }, async () => {
  for (const path of ['/healthz', '/readyz']) {
    const answer = await fetch(stack.url + path);
    assert.equal(answer.status, 200);
    assert.ok((await answer.text()).length < 40);
  }
});

test('garbage for protobuf is rejected by name', { skip }, async () => {
  const answer = await fetch(`${stack.url}/v1/ingest/profiles`, {
    method: 'POST',
    headers: { ...collectorToken, 'content-type': 'application/x-protobuf' },
    body: Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 131 + 7) & 255)),
  });
  assert.equal(answer.status, 400);
  assert.ok(Buffer.from(await answer.arrayBuffer()).includes('malformed'));
});

test('a body of 1 GB is refused early, and memory stays', { skip }, async () => {
  const memory = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${stack.backendProgram.pid}/status`, 'utf8'))[1]);
  const start = memory();
  const outcome = await new Promise((resolve) => {
    const call = request(`${stack.url}/v1/ingest/profiles`, {
      method: 'POST',
      headers: { ...collectorToken, 'content-type': 'application/x-protobuf', 'content-length': 2 ** 30 },
    });
    let sent = 0;
    const piece = Buffer.alloc(1 << 20);
    const more = () => {
      while (sent < 1024 && !call.destroyed) {
        sent++;
        if (!call.write(piece)) return void call.once('drain', more);
      }
    };
    call.on('response', (answer) => resolve({ status: answer.statusCode, sent }));
    call.on('error', (error) => resolve({ status: error.code, sent }));
    more();
  });
  assert.ok([413, 'ECONNRESET', 'EPIPE'].includes(outcome.status), JSON.stringify(outcome));
  assert.ok(outcome.sent < 512, `${outcome.sent} MiB were taken`);
  assert.ok(memory() - start < 64 * 1024, `memory grew by ${memory() - start} kB`);
  assert.equal((await fetch(`${stack.url}/healthz`)).status, 200);
});

test(
  'a mistake in a config file: file, line, key, and what is allowed',
  { skip: skip || missing('collector', 'attachd') },
  async () => {
    const cases = [
      [programs.collector, 'cluster: a\nwindow:\n  length: soon\n', /:3.*window\.length.*soon/s],
      [programs.collector, 'cluster: a\nwindw: {length: 10s}\n', /:2.*windw.*window/s],
      [programs.attachd, 'socket: /tmp/x.sock\nlimits: {operations: -1}\n', /:2.*limits\.operations/s],
      [programs.backend, 'store:\n  kind: postgres\n', /:2.*store\.kind.*(embedded|clickhouse)/s],
    ];
    for (const [program, text, expected] of cases) {
      const file = stack.path('wrong.yaml');
      writeFileSync(file, text);
      const done = await run(program, [`--config=${file}`]);
      assert.equal(done.code, 2, done.stderr);
      assert.match(done.stderr, expected);
      assert.ok(done.stderr.includes(file), done.stderr);
    }
  },
);

test('without libchdb.so the backend says how to use a ClickHouse server', { skip }, async () => {
  const done = await run(programs.backend, [
    '--listen=127.0.0.1:0',
    `--data-dir=${stack.path('other')}`,
    '--store-library=/nonexistent/libchdb.so',
    `--auth-user-token-file=${stack.path('user-token')}`,
    `--auth-collector-token-file=${stack.path('collector-token')}`,
  ]);
  assert.notEqual(done.code, 0);
  assert.match(done.stderr, /store\.kind|store-kind/);
  assert.match(done.stderr, /store\.url|store-url/);
});

test('the backend ends cleanly when asked', { skip }, async () => {
  await until('healthy', async () => (await fetch(`${stack.url}/healthz`)).ok);
  const { code } = await stack.end(stack.backendProgram);
  assert.equal(code, 0);
});
