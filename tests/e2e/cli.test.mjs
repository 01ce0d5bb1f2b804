// SPDX-License-Identifier: Apache-2.0
// The command line on a live JVM, its page in a browser, and what it says when it cannot.
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withPage } from './lib/browser.mjs';
import { build, missing, profiler, programs } from './lib/parts.mjs';
import { run } from './lib/process.mjs';
import { Stack } from './lib/stack.mjs';

const skip = missing('cli', 'demo', 'profiler', 'jdks', 'chromium', 'ui');
const env = {
  HOTSTACK_ASYNC_PROFILER: profiler,
  HOTSTACK_ATTACH_WORKER: programs.worker,
  HOTSTACK_DATADIR: `${build}/ui`,
};
const hotstack = (...args) => run(programs.cli, args, { env });
const libraries = ['libjfr', 'libstackagg', 'libattach'].map((name) =>
  join(build, name, `${name}.so.0`),
);
let stack, demo;

before(async () => {
  if (skip) return;
  stack = new Stack('cli');
  demo = await stack.demo('demo', 21);
});
after(() => stack?.close());

test('profile: one page that opens without a network, with cpu, allocation and locks', { skip }, async () => {
  const file = stack.path('flame.html');
  const done = await hotstack('profile', '-d', '5', '-f', file, String(demo.pid));
  assert.equal(done.code, 0, done.stderr);
  await withPage(async (page, errors) => {
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.context().setOffline(true);
    const address = pathToFileURL(file).href;
    await page.goto(address);
    const graph = page.getByTestId('flamegraph');
    await graph.waitFor();
    await page.getByTestId('search-input').fill('PriceEngine\\.computeDiscounts');
    await page.keyboard.press('Enter');
    assert.match(await page.getByTestId('matched-percent').innerText(), /[\d.]+ %/);
    assert.match(await graph.getAttribute('data-active'), /^dev\.hotstack\.demo\.PriceEngine\.computeDiscounts, self /);
    assert.deepEqual(errors, []);
    assert.deepEqual(
      // data: is the page's own icon, blob: its own worker: neither leaves the page.
      asked.filter((url) => url !== address && !/^(data|blob):/.test(url)),
      [],
    );
  });
});

test('profile left no file of ours to the JVM, which is at work', { skip }, async () => {
  const library = /(\/\S*libasyncProfiler\S*) \(deleted\)$/m.exec(readFileSync(`/proc/${demo.pid}/maps`, 'utf8'));
  assert.ok(library, 'the library is not mapped, or its file is still there');
  assert.equal(existsSync(dirname(library[1])), false, `${dirname(library[1])} is still there`);
  assert.equal((await fetch(`${demo.url}/health`)).status, 200);
});

test('a process that is not there, and one that is no JVM: a sentence, exit 1', { skip }, async () => {
  const gone = await hotstack('profile', '-d', '1', '-f', stack.path('x.html'), '4194303');
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /4194303/);
  const shell = await hotstack('profile', '-d', '1', '-f', stack.path('x.html'), String(process.pid));
  assert.equal(shell.code, 1);
  assert.match(shell.stderr, /not_hotspot|not a HotSpot/);
});

test(
  "another user's JVM: refused with the reason",
  { skip: skip || (process.getuid() !== 0 && 'needs root to become another user') },
  async () => {
    // Copies: the tree may lie below a directory that only its owner may enter, such as /root.
    const copyOf = (file, place) => {
      const copy = stack.path(place);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(file, copy);
      return copy;
    };
    // Where they find each other, as in the build.
    const [cli, worker] = [programs.cli, programs.worker, ...libraries].map((file) =>
      copyOf(file, relative(build, file)),
    );
    const library = copyOf(profiler, 'libasyncProfiler.so');
    chmodSync(stack.dir, 0o755);
    const done = await run(
      'setpriv',
      [
        '--reuid=65534',
        '--regid=65534',
        '--clear-groups',
        cli,
        'profile',
        '-d',
        '1',
        '-f',
        '/tmp/nobody.jfr',
        String(demo.pid),
      ],
      {
        env: { ...env, HOTSTACK_ASYNC_PROFILER: library, HOTSTACK_ATTACH_WORKER: worker },
      },
    );
    assert.equal(done.code, 1, done.stdout);
    assert.match(done.stderr, /\(permission_denied\)/);
  },
);

test('a truncated recording: what is there is shown, the loss is named, exit 3 or 1', { skip }, async () => {
  const file = stack.path('whole.jfr');
  const done = await hotstack('profile', '-d', '2', '-f', file, String(demo.pid));
  assert.equal(done.code, 0, done.stderr);
  const whole = readFileSync(file);
  writeFileSync(stack.path('two.jfr'), Buffer.concat([whole, whole]));
  truncateSync(stack.path('two.jfr'), whole.length + Math.floor(whole.length / 2));
  const salvaged = await hotstack('convert', stack.path('two.jfr'), '--type', 'cpu', '-o', stack.path('two.collapsed'));
  assert.equal(salvaged.code, 3, salvaged.stderr);
  assert.match(salvaged.stderr, /truncated at byte \d+/);
  const first = await hotstack('convert', file, '--type', 'cpu', '-o', stack.path('one.collapsed'));
  assert.equal(first.code, 0, first.stderr);
  // Of the second, which is cut, the samples are there; its stacks stood at its end.
  const lines = (name) => readFileSync(stack.path(name), 'utf8').split('\n');
  const stacks = (name) => lines(name).filter((line) => !line.startsWith('[no stack] '));
  assert.deepEqual(stacks('two.collapsed'), stacks('one.collapsed'));
  assert.ok(lines('two.collapsed').some((line) => line.startsWith('[no stack] ')), salvaged.stderr);
  assert.match(salvaged.stderr, /\d+ samples have no stack/);
  writeFileSync(stack.path('junk.jfr'), 'this is no recording');
  const junk = await hotstack('convert', stack.path('junk.jfr'), '-o', stack.path('junk.html'));
  assert.equal(junk.code, 1);
  assert.match(junk.stderr, /offset 0|byte 0/);
  rmSync(file);
});

test('ps names the JVM', { skip }, async () => {
  const list = await hotstack('ps');
  assert.equal(list.code, 0, list.stderr);
  assert.match(list.stdout, new RegExp(`^\\s*${demo.pid}\\s.*demo-service`, 'm'));
});
