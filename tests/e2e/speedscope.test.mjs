// SPDX-License-Identifier: Apache-2.0
// speedscope itself reads what `hotstack convert` writes: opened in its page, and saved again by it.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { missing, programs, speedscope } from './lib/parts.mjs';
import { run } from './lib/process.mjs';

const skip = missing('cli', 'speedscope', 'ui', 'chromium');
const recording = join(import.meta.dirname, '../data/jfr/async-profiler-4.5-jdk17.jfr.gz');
const folder = mkdtempSync(join(tmpdir(), 'hotstack-speedscope-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function hotstack(...args) {
  const done = await run(programs.cli, args);
  assert.equal(done.code, 0, done.stderr);
  return done.stdout;
}

// { stack, root first, joined by ";": weight } of the calls that speedscope saves.
function stacksOf(profile, frames) {
  const stacks = new Map();
  const path = [];
  let last = 0;
  const spend = (until) => {
    const key = path.join(';');
    if (until > last) stacks.set(key, (stacks.get(key) ?? 0) + until - last);
    last = until;
  };
  for (const event of profile.events) {
    spend(event.at);
    if (event.type === 'O') path.push(frames[event.frame].name);
    else assert.equal(path.pop(), frames[event.frame].name);
  }
  spend(profile.endValue);
  return stacks;
}

test('speedscope imports our file to the same totals and stacks', { skip }, async () => {
  const { withPage } = await import('./lib/browser.mjs');
  const file = join(folder, 'all.speedscope.json');
  await hotstack('convert', recording, '-o', file);
  const script = join(folder, 'load.js');
  const data = readFileSync(file).toString('base64');
  writeFileSync(script, `speedscope.loadFileFromBase64('all.speedscope.json', '${data}');`);

  const saved = await withPage(async (page, errors) => {
    page.setDefaultTimeout(120_000); // a safety net against a hang
    await page.goto(`${pathToFileURL(speedscope)}#localProfilePath=${script.slice(1)}`);
    await page.getByText('cpu (1/6)').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Control+s')]);
    assert.deepEqual(errors, []);
    return JSON.parse(readFileSync(await download.path(), 'utf8'));
  });

  const ours = JSON.parse(await hotstack('convert', recording, '-f', 'json', '-o', '-')).profiles;
  assert.deepEqual(
    saved.profiles.map((profile) => [profile.name, profile.endValue - profile.startValue]),
    ours.map((profile) => [profile.type, Number(profile.value_total)]),
  );
  const units = { ns: 'nanoseconds', bytes: 'bytes', count: 'none' };
  assert.deepEqual(
    saved.profiles.map((profile) => profile.unit),
    ours.map((profile) => units[profile.unit]),
  );
  for (const profile of saved.profiles) {
    const lines = (await hotstack('convert', recording, '-t', profile.name, '-f', 'collapsed', '-o', '-')).trimEnd().split('\n');
    const wanted = lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]);
    const found = [...stacksOf(profile, saved.shared.frames)].map(([stack, value]) => [stack || '[no stack]', value]);
    assert.deepEqual(found.sort(), wanted.sort(), profile.name);
  }
});
