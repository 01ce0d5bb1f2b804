// SPDX-License-Identifier: Apache-2.0
// Programs under test: started with their output kept, ended by pid, waited for by condition.
import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

// Seconds that a wait may take: a safety net against a hang, not an expectation about speed.
export const patience = Number(process.env.E2E_PATIENCE ?? 120);

// Polls `probe` until it returns a truthy value. The failure names `what` and the last error.
export async function until(what, probe, { seconds = patience, every = 100 } = {}) {
  const end = Date.now() + seconds * 1000;
  let last = 'it stayed false';
  while (Date.now() < end) {
    try {
      const value = await probe();
      if (value) return value;
    } catch (error) {
      last = error.message;
    }
    await delay(every);
  }
  throw new Error(`waited ${seconds} s in vain until ${what}: ${last}`);
}

export class Program {
  constructor(name, path, args, { env = {}, log, cwd, stdin = 'ignore' } = {}) {
    this.name = name;
    this.logFile = log;
    this.child = spawn(path, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: [stdin, 'pipe', 'pipe'],
    });
    const sink = createWriteStream(log, { flags: 'a' });
    this.child.stdout.pipe(sink, { end: false });
    this.child.stderr.pipe(sink, { end: false });
    this.ended = once(this.child, 'exit').then(([code, signal]) => ({ code, signal }));
    this.child.on('error', () => {});
  }

  get pid() {
    return this.child.pid;
  }

  get running() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  log() {
    return readFileSync(this.logFile, 'utf8');
  }

  // Ends the program and gives { code, signal }.
  async end(signal = 'SIGTERM', seconds = patience) {
    if (this.running) this.child.kill(signal);
    const limit = new AbortController();
    const late = delay(seconds * 1000, 'late', { signal: limit.signal }).catch(() => 'ended');
    const outcome = await Promise.race([this.ended, late]);
    limit.abort();
    if (outcome === 'late') {
      this.child.kill('SIGKILL');
      await this.ended;
      throw new Error(`${this.name} did not end within ${seconds} s of ${signal}; its log:\n${this.log()}`);
    }
    return outcome;
  }
}

// Runs a program to its end: { code, stdout, stderr }.
export async function run(path, args, { env = {}, input, cwd } = {}) {
  const child = spawn(path, args, { cwd, env: { ...process.env, ...env } });
  const chunks = { stdout: [], stderr: [] };
  child.stdout.on('data', (data) => chunks.stdout.push(data));
  child.stderr.on('data', (data) => chunks.stderr.push(data));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code, signal] = await once(child, 'close');
  return {
    code,
    signal,
    stdout: Buffer.concat(chunks.stdout).toString(),
    stderr: Buffer.concat(chunks.stderr).toString(),
  };
}
