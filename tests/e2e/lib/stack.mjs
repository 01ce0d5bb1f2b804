// SPDX-License-Identifier: Apache-2.0
// The whole product on this machine: demo services on real JVMs, attachd, collector, backend.
// Each stack lives in a directory of its own and on free ports; close() ends what it started.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from './api.mjs';
import * as parts from './parts.mjs';
import { Program, run, until } from './process.mjs';

const userToken = 'e2e-user-token-0123456789';
const collectorToken = 'e2e-collector-token-0123456789';

export class Stack {
  constructor(name) {
    this.dir = mkdtempSync(join(tmpdir(), `hotstack-e2e-${name}-`));
    this.programs = [];
    this.services = [];
    for (const sub of ['recordings', 'queue', 'attachd', 'store', 'logs']) mkdirSync(this.path(sub));
    writeFileSync(this.path('user-token'), userToken + '\n', { mode: 0o600 });
    writeFileSync(this.path('collector-token'), collectorToken + '\n', { mode: 0o600 });
    writeFileSync(this.path('one-time-code'), 'e2e-one-time-code-0123456789\n', { mode: 0o600 });
  }

  path(...names) {
    return join(this.dir, ...names);
  }

  start(name, path, args, options = {}) {
    const program = new Program(name, path, args, { log: this.path('logs', `${name}.log`), ...options });
    this.programs.push(program);
    return program;
  }

  // Waits for a file that `program` writes once it is ready, and gives its text.
  async written(program, file) {
    return until(`${program.name} is ready`, () => {
      if (!program.running) throw new Error(`it ended: ${program.log()}`);
      return existsSync(file) && readFileSync(file, 'utf8').trim();
    });
  }

  // A demo service under `workload`, on JDK `version`; `events` are what its rule records.
  async demo(workload, version, { load = 'normal', jvm = [], events } = {}) {
    const portFile = this.path(`${workload}.port`);
    rmSync(portFile, { force: true });
    const program = this.start(workload, parts.java(version), [
      '-Xmx96m',
      `-Dworkload=${workload}`,
      `-Dstack=${this.dir}`,
      ...jvm,
      '-jar',
      parts.demoJar,
      '--port',
      '0',
      '--port-file',
      portFile,
      '--load',
      load,
    ]);
    program.workload = workload;
    program.events = events;
    program.url = `http://127.0.0.1:${await this.written(program, portFile)}`;
    this.services.push(program);
    return program;
  }

  // A Java program of this stack's directory under `workload`; ready once it has said so.
  async program(workload, version, mainClass, args = [], jvm = []) {
    const program = this.start(
      workload,
      parts.java(version),
      ['-Xmx96m', `-Dworkload=${workload}`, `-Dstack=${this.dir}`, ...jvm, '-cp', this.dir, mainClass, ...args],
      { stdin: 'pipe' },
    );
    program.workload = workload;
    this.services.push(program);
    await until(`${workload} is ready`, () => {
      if (!program.running) throw new Error(`it ended: ${program.log()}`);
      return existsSync(program.logFile) && program.log().includes('ready');
    });
    return program;
  }

  async backend({ port = 0, path = parts.programs.backend, args = [], env = {} } = {}) {
    const portFile = this.path('backend.port');
    rmSync(portFile, { force: true });
    this.backendProgram = this.start(
      'backend',
      path,
      [
        `--listen=127.0.0.1:${port}`,
        `--port-file=${portFile}`,
        `--data-dir=${this.path('store')}`,
        `--store-library=${parts.libchdb}`,
        `--ui-dir=${parts.uiAssets}`,
        `--one-time-code-file=${this.path('one-time-code')}`,
        `--auth-user-token-file=${this.path('user-token')}`,
        `--auth-collector-token-file=${this.path('collector-token')}`,
        '--ingest-flush-interval=500ms',
        ...args,
      ],
      { env },
    );
    this.port = Number(await this.written(this.backendProgram, portFile));
    this.url = `http://127.0.0.1:${this.port}`;
    this.api = new Api(this.url, userToken);
    await until('the backend answers', async () => (await fetch(`${this.url}/healthz`)).ok);
    return this.backendProgram;
  }

  async attachd({ args = [] } = {}) {
    const socket = this.path('attachd.sock');
    this.attachdProgram = this.start('attachd', parts.programs.attachd, [
      `--socket=${socket}`,
      `--state-dir=${this.path('attachd')}`,
      `--profiler-library=${parts.profiler}`,
      `--thread-agent=${parts.threadAgent}`,
      `--worker=${parts.programs.worker}`,
      ...args,
    ]);
    await until('attachd listens', () => existsSync(socket));
    return this.attachdProgram;
  }

  // One rule a service: this stack's JVMs and nobody else's.
  collectorConfig({ threads, status }) {
    const rules = this.services.map(
      ({ workload, events }) => `  - command_line: "-Dworkload=${workload} -Dstack=${this.dir}"
    workload: ${workload}
    events: ${events ?? 'cpu=10ms,alloc=256k,lock=1ms'}
    startup_delay: 0s
    threads: ${threads}
`,
    );
    return `cluster: e2e
node: e2e-node
attachd: {socket: ${this.path('attachd.sock')}}
backend:
  url: ${this.url}
  token_file: ${this.path('collector-token')}
queue: {dir: ${this.path('queue')}}
window: {length: 10s, jitter: 0s}
discovery: {interval: 1s}
flush_interval: 500ms
status: {interval: ${status}}
upload: {backoff_min: 200ms, backoff_max: 2s, grace: 60s}
listen: {port: 0}
debug:
  keep_recordings: ${this.path('recordings')}
  ledger: ${this.path('ledger.jsonl')}
rules:
${rules.join('')}`;
  }

  async collector({ args = [], threads = '10s', status = '5s' } = {}) {
    const file = this.path('collector.yaml');
    writeFileSync(file, this.collectorConfig({ threads, status }));
    this.collectorProgram = this.start('collector', parts.programs.collector, [`--config=${file}`, ...args]);
    return this.collectorProgram;
  }

  // Waits until `workload` has samples of all `types` in the store.
  profiled(workload, types = ['cpu', 'alloc_bytes', 'lock_delay']) {
    return until(
      `${workload} has profiles of ${types}`,
      async () => {
        for (const program of this.programs)
          if (!program.running && !program.expectedEnd)
            throw new Error(`${program.name} ended: ${program.log().slice(-2000)}`);
        const service = (await this.api.services()).find((one) => one.workload === workload);
        return service && types.every((type) => service.types[type]) && service;
      },
      { seconds: 180, every: 500 },
    );
  }

  // Returns the collector's account of the stored data: raw sums by type over all settled batches.
  sentTotals() {
    const totals = {};
    const lines = readFileSync(this.path('ledger.jsonl'), 'utf8').trim().split('\n').filter(Boolean);
    for (const line of lines) {
      const { rejected, raw } = JSON.parse(line);
      if (rejected) throw new Error(`a batch was rejected: ${line}`);
      for (const [type, value] of Object.entries(raw)) totals[type] = (totals[type] ?? 0n) + BigInt(value);
    }
    return totals;
  }

  // Returns the sums that the JDK's own API reads from the kept recordings: raw sums by type. A session's
  // windows are consecutive chunks of one recording, and its settings are in the first one, so that
  // those of each JVM are joined again.
  async truthTotals() {
    const whole = new Map();
    for (const name of readdirSync(this.path('recordings')).sort()) {
      const jvm = this.path(`${name.split('-')[0]}.jfr`);
      whole.set(jvm, [...(whole.get(jvm) ?? []), readFileSync(this.path('recordings', name))]);
    }
    for (const [file, pieces] of whole) writeFileSync(file, Buffer.concat(pieces));
    const answer = await run('java', ['-Xmx1g', parts.truthSource, ...whole.keys()]);
    if (answer.code !== 0) throw new Error(`JfrTruth: ${answer.stderr}`);
    const totals = {};
    for (const [type, { raw_value: raw }] of Object.entries(JSON.parse(answer.stdout).types))
      if (raw > 0) totals[type] = BigInt(raw);
    return totals;
  }

  // Logs a page in by the user's token, which does not expire as the one-time code does.
  async logIn(page) {
    await page.goto(this.url);
    await page.getByTestId('token-input').fill(userToken);
    await page.keyboard.press('Enter');
  }

  async end(program, signal = 'SIGTERM') {
    program.expectedEnd = true;
    return program.end(signal);
  }

  // Ends everything, collectors first, also after one that did not end in time; keeps the directory when `failed`.
  async close(failed = false) {
    const late = [];
    const all = [this.collectorProgram, this.attachdProgram, this.backendProgram, ...this.programs];
    for (const program of all) if (program?.running) await this.end(program).catch((error) => late.push(error));
    if (late.length > 0) throw late[0];
    if (failed) console.log(`# kept: ${this.dir}`);
    else rmSync(this.dir, { recursive: true, force: true });
  }
}
