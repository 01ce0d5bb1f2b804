// SPDX-License-Identifier: Apache-2.0
// Where the real parts are: programs of the build, JDKs, the profiler, the store, the browser.
// A part that is missing makes a test skip, loudly, with the command that brings it.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const build = process.env.HOTSTACK_BUILD ?? join(import.meta.dirname, '../../../build');
export const cache =
  process.env.HOTSTACK_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hotstack');

export const programs = {
  attachd: join(build, 'daemons/attachd/hotstack-attachd'),
  collector: join(build, 'daemons/collector/hotstack-collector'),
  backend: join(build, 'daemons/backend/hotstack-backend'),
  cli: join(build, 'daemons/cli/hotstack'),
  worker: join(build, 'daemons/attachd/worker/hotstack-attach-worker'),
  chdbHttp: join(build, 'tests/support/chdb-http/chdb-http'),
};
export const demoJar = join(build, 'examples/demo-service/demo-service.jar');
export const truthSource = join(import.meta.dirname, '../../support/jfr-truth/JfrTruth.java');
export const uiAssets = join(build, 'ui/ui');
export const libchdb = process.env.HOTSTACK_LIBCHDB ?? join(cache, 'chdb/libchdb.so');
export const profiler = join(cache, 'async-profiler/linux-x64/libasyncProfiler.so');
export const threadAgent = join(build, 'libattach/agent/libhotstackthreads.so');
export const speedscope = join(cache, 'speedscope/dist/release/index.html');
export const chromium = process.env.HOTSTACK_CHROMIUM ?? '/usr/bin/chromium';

export const jdks = [11, 17, 21, 25];
export const java = (version) => join(cache, 'jdk', String(version), 'bin/java');

const needs = {
  attachd: [programs.attachd, './dev build'],
  collector: [programs.collector, './dev build'],
  backend: [programs.backend, './dev build'],
  cli: [programs.cli, './dev build'],
  chdbHttp: [programs.chdbHttp, './dev build'],
  demo: [demoJar, './dev build'],
  chdb: [libchdb, './dev test e2e (its dependency step fetches libchdb.so; x86-64 only)'],
  profiler: [profiler, './dev test e2e (its dependency step fetches async-profiler)'],
  threadAgent: [threadAgent, './dev build'],
  jdks: [java(17), './dev test e2e (its dependency step fetches the JDKs)'],
  ui: [join(build, 'ui/stage/node_modules/playwright-core'), './dev build (with node and npm)'],
  speedscope: [speedscope, './dev test e2e (its dependency step fetches speedscope)'],
  javac: ['/usr/bin/javac', './dev test e2e (its dependency step installs a JDK)'],
  chromium: [chromium, 'apt-get install chromium'],
};

// The reason to skip, or false: `test(name, { skip: missing('chdb', 'chromium') }, ...)`.
// A fleet of real JVMs with thread snapshots, and a browser to look at it.
export const fleetParts = ['backend', 'attachd', 'collector', 'chdb', 'profiler', 'threadAgent', 'jdks', 'javac', 'chromium', 'ui'];

export function missing(...names) {
  for (const name of names) {
    const [path, command] = needs[name];
    if (!existsSync(path)) return `${name} is missing (${path}); to get it: ${command}`;
  }
  return false;
}
