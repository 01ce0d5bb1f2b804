// SPDX-License-Identifier: Apache-2.0
// Chromium by its own protocol, with nothing of it switched on: a driver that listens to the network has the browser keep a copy of each
// file and, as soon as it has all of it, decode it, in the page's main thread.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ARGUMENTS, settle } from './browser.mjs';

/** A browser of its own with an empty page, at rest. */
export class QuietBrowser {
  #child;
  #folder = mkdtempSync(path.join(tmpdir(), 'hotstack-chromium-'));
  #lastId = 0;
  #waiting = new Map();
  #page;

  constructor(executable) {
    const own = [`--user-data-dir=${this.#folder}`, '--no-first-run', '--remote-debugging-pipe', 'about:blank'];
    this.#child = spawn(executable, [...ARGUMENTS, ...own], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    let rest = '';
    this.#child.stdio[4].setEncoding('utf8').on('data', (text) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop();
      for (const message of messages) this.#answered(JSON.parse(message));
    });
  }

  static async start(executable) {
    const browser = new QuietBrowser(executable);
    const { targetInfos } = await browser.send('Target.getTargets');
    const { targetId } = targetInfos.find(({ type }) => type === 'page');
    browser.#page = (await browser.send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
    await browser.ask('Emulation.setDeviceMetricsOverride', { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false });
    await settle((method) => browser.send(method));
    return browser;
  }

  #answered({ id, result, error }) {
    this.#waiting.get(id)?.(error === undefined ? Promise.resolve(result) : Promise.reject(new Error(error.message)));
    this.#waiting.delete(id);
  }

  send(method, params = {}, sessionId = undefined) {
    return new Promise((resolve) => {
      this.#waiting.set(++this.#lastId, resolve);
      this.#child.stdio[3].write(`${JSON.stringify({ id: this.#lastId, method, params, sessionId })}\0`);
    });
  }

  /** Asks the page. */
  ask(method, params) {
    return this.send(method, params, this.#page);
  }

  /** Evaluates a promise in the page and returns its value. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async close() {
    const ended = new Promise((resolve) => this.#child.on('exit', resolve));
    void this.send('Browser.close');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
