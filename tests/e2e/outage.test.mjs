// SPDX-License-Identifier: Apache-2.0
// Nothing lost, nothing doubled: the backend away for two minutes, and killed while it takes data.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'node:test';
import { missing } from './lib/parts.mjs';
import { until } from './lib/process.mjs';
import { Stack } from './lib/stack.mjs';
import { withStore } from './lib/store.mjs';
import { storedTotals } from './lib/types.mjs';

const skip = missing('backend', 'attachd', 'collector', 'demo', 'chdb', 'chdbHttp', 'profiler', 'jdks');

const waiting = (stack) => readdirSync(stack.path('queue')).filter((name) => name.endsWith('.profiles'));

async function withStack(name, use) {
  const stack = new Stack(name);
  let failed = true;
  try {
    await stack.backend();
    await stack.demo('demo', 17, { load: 'low' });
    await stack.attachd();
    await stack.collector();
    await stack.profiled('demo');
    await use(stack);
    failed = false;
  } finally {
    await stack.close(failed);
  }
}

// Ends collector and backend in that order and holds every stage's totals against the others.
async function everythingArrived(stack) {
  await until('the queue is empty', () => waiting(stack).length === 0);
  await stack.end(stack.collectorProgram);
  assert.deepEqual(waiting(stack), []);
  const truth = await stack.truthTotals();
  await stack.end(stack.backendProgram);
  await withStore(stack, async (query) => {
    assert.deepEqual(await storedTotals(query, 'profile_samples'), truth);
    const [batches] = await query(
      "SELECT count() AS n, uniqExact(batch_id) AS ids FROM ingestion_batches WHERE status = 'accepted'",
    );
    assert.equal(batches.n, batches.ids);
    const [windows] = await query(
      'SELECT count() AS n, uniqExact(target_id, source, time) AS ids FROM profile_windows',
    );
    assert.equal(windows.n, windows.ids, 'a window stands twice');
  });
}

test('the backend away for two minutes: nothing recorded meanwhile is missing', { skip }, () =>
  withStack('away', async (stack) => {
    await stack.end(stack.backendProgram);
    await delay(120_000); // the time itself is what the promise is about
    assert.ok(stack.collectorProgram.running, stack.collectorProgram.log());
    assert.ok(waiting(stack).length > 0, 'nothing waits in the queue');
    await stack.backend({ port: stack.port });
    await everythingArrived(stack);
  }),
);

test('the backend killed again and again while data comes in: every batch is there once', { skip }, () =>
  withStack('killed', async (stack) => {
    for (let round = 0; round < 4; round++) {
      const before = stack.sentTotals().cpu ?? 0n;
      await until('a batch was settled', () => (stack.sentTotals().cpu ?? 0n) > before);
      await stack.end(stack.backendProgram, 'SIGKILL');
      await stack.backend({ port: stack.port });
    }
    await everythingArrived(stack);
  }),
);
