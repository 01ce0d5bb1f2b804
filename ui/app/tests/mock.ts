// SPDX-License-Identifier: Apache-2.0
// A backend for the smoke test: the built app with the real backend's policy headers, and the query API over a made-up shop.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readDocument } from '../../flamegraph/src/document/document.ts';
import { topFrames } from '../../flamegraph/src/lens/top.ts';
import { KINDS } from '../../flamegraph/src/document/frames.ts';
import type { Loss } from '../src/api/types.ts';
import * as ledger from './ledger.ts';
import * as pool from './pool.ts';
import { shopGraph, TYPES } from './shop.ts';

const ASSETS = fileURLToPath(new URL('../../dist/app', import.meta.url));
const POLICY =
  "default-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const MEDIA: Record<string, string> = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

export const TOKEN = 'mock-token';
export const CODE = 'one-time';
const FRESH = new Date().toISOString();

/** An error to answer with, by the last part of the path or `*`. */
type Failures = Map<string, { status: number; code: string; message: string; oldest?: string }>;

export class MockBackend {
  /** Windows that have come in: the graphs grow with it. */
  age = 1;
  failures: Failures = new Map();
  lostEvents = '0';
  loss: Loss = { dropped_batches: 0, oldest_dropped: null, rejected_batches: 0, code: null };
  coverage: { share: number; lost_windows: number; reason: string | null } = { share: 1, lost_windows: 0, reason: null };
  /** Profile types without samples. */
  emptyTypes = new Set<string>(['wall', 'live_bytes']);
  targets: Record<string, unknown>[] = [target({})];
  /** The reported states of one JVM over time. */
  history: Record<string, unknown>[] = [];
  /** Changes an answer about threads, locks, deadlocks or ingestion before it is sent. */
  change: (path: string, body: Record<string, unknown>) => Record<string, unknown> = (_path, body) => body;
  /** Path and query of each API call, and whether it was answered with 304. */
  calls: { url: string; unchanged: boolean }[] = [];
  private codes = new Set([CODE]);
  private readonly server = createServer((request, response) => void this.answer(request, response));
  private sessions = new Set<string>();

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Ends all sessions, as after a restart of the backend, or when the session has expired. */
  endSessions(): void {
    this.sessions.clear();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://mock');
    if (!url.pathname.startsWith('/v1/')) return this.asset(url.pathname, response);
    if (url.pathname === '/v1/session') return this.session(request, response);
    const cookie = /hotstack=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
    if (!this.sessions.has(cookie)) return fail(response, { status: 401, code: 'unauthenticated', message: 'There is no session.' });
    const failure = this.failures.get(url.pathname.split('/').pop()!) ?? this.failures.get('*');
    if (failure !== undefined) return fail(response, failure);
    const body = this.body(url);
    if (body === null) return fail(response, { status: 404, code: 'not_found', message: 'There is no such route.' });
    const content = { ...body, meta: { ...(body['meta'] as object), from: '', to: '' } };
    const tag = `"${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)}"`;
    const unchanged = request.headers['if-none-match'] === tag;
    this.calls.push({ url: url.pathname + url.search, unchanged });
    response.setHeader('ETag', tag);
    response.setHeader('Cache-Control', 'no-cache, private');
    if (unchanged) return void response.writeHead(304).end();
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  }

  private asset(name: string, response: ServerResponse): void {
    const file = path.join(ASSETS, path.normalize(name));
    const found = path.extname(name) !== '' && existsSync(file) ? file : path.join(ASSETS, 'index.html');
    response.writeHead(200, { 'Content-Type': MEDIA[path.extname(found)] ?? 'application/octet-stream', 'Content-Security-Policy': POLICY });
    response.end(readFileSync(found));
  }

  private async session(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method === 'DELETE') {
      this.endSessions();
      return void response.writeHead(204, { 'Set-Cookie': 'hotstack=; Path=/; Max-Age=0' }).end();
    }
    const { token, code } = JSON.parse(Buffer.concat(parts).toString()) as { token?: string; code?: string };
    const good = token === TOKEN || (code !== undefined && this.codes.delete(code));
    if (!good) return fail(response, { status: 401, code: 'unauthenticated', message: 'The token or code is not valid.' });
    const id = Math.random().toString(36).slice(2);
    this.sessions.add(id);
    response.writeHead(204, { 'Set-Cookie': `hotstack=${id}; HttpOnly; SameSite=Strict; Path=/` }).end();
  }

  private graph(type: string) {
    return shopGraph(type, this.emptyTypes.has(type) ? 0 : this.age);
  }

  private body(url: URL): Record<string, unknown> | null {
    const meta = this.meta(url);
    const type = url.searchParams.get('type') ?? '';
    const told = this.threads(url) ?? this.ledger(url);
    if (told !== null) return { meta, ...this.change(url.pathname, told) };
    switch (url.pathname) {
      case '/v1/services':
        return { services: this.services(), meta };
      case '/v1/services/shop/checkout':
        return { ...this.services()[0], targets: this.targets, pools: pool.POOLS, meta };
      case '/v1/status':
        return url.searchParams.has('jvm') ? { targets: this.targets, history: this.history, meta } : { targets: this.targets, meta };
      case '/v1/flamegraph': {
        const document = this.graph(type);
        const seen = document.profiles[0]!.value_total;
        return { ...document, meta: { ...meta, ledger: ledgerOf(BigInt(seen)) } };
      }
      case '/v1/top':
        return { ...this.top(type), meta };
      case '/v1/timeline':
        return { ...this.timeline(type, meta.from, meta.to), meta };
      default:
        return null;
    }
  }

  private threads(url: URL): Record<string, unknown> | null {
    const number = (key: string) => Number(url.searchParams.get(key));
    switch (url.pathname) {
      case '/v1/threads':
        return pool.threads(url.searchParams.get('pool'));
      case '/v1/threads/lanes':
        return pool.lanes(number('from'), number('to'), number('buckets'));
      case '/v1/threads/one':
        return pool.oneThread(number('java_tid'), number('from'), number('to'));
      case '/v1/locks':
        return pool.locks();
      case '/v1/deadlocks':
        return pool.deadlocks(url.searchParams.get('workload'));
      default:
        return url.pathname.startsWith('/v1/deadlocks/') ? pool.oneDeadlock(decodeURIComponent(url.pathname.slice(14))) : null;
    }
  }

  private ledger(url: URL): Record<string, unknown> | null {
    switch (url.pathname) {
      case '/v1/collectors':
        return ledger.collectors();
      case '/v1/ingestion':
        return ledger.ingestion(Number(url.searchParams.get('from')), Number(url.searchParams.get('to')));
      case '/v1/retention':
        return ledger.retention();
      default:
        return null;
    }
  }

  private top(type: string) {
    const profile = readDocument(this.graph(type)).profiles[0]!;
    const rows = topFrames(profile, 50).map(({ frame, self, total }) => {
      const cls = profile.frames.cls(frame);
      const method = profile.frames.methodLabel(frame);
      return { class: cls, method, kind: KINDS[profile.frames.kind(frame)], self: String(self), total: String(total) };
    });
    return { rows, type, unit: profile.unit, total: profile.valueTotal };
  }

  /** A wave with a gap, and the last minute not there yet. */
  private timeline(type: string, from: string, to: string) {
    const length = Date.parse(to) - Date.parse(from);
    const bucket_ms = Math.ceil(length / 120 / 1000) * 1000;
    const count = Math.ceil(length / bucket_ms);
    const { value_total, unit } = this.graph(type).profiles[0]!;
    const wave = (index: number) => String(Math.round((Number(value_total) / count) * (1 + 0.6 * Math.sin(index / 7))));
    const isGap = (index: number) => (index >= count / 4 && index < count / 4 + 3) || (index + 1) * bucket_ms > length - 60_000;
    return { bucket_ms, values: Array.from({ length: count }, (_, index) => (isGap(index) ? null : wave(index))), type, unit, total: value_total };
  }

  private services() {
    const types = Object.fromEntries(
      TYPES.filter((type) => !this.emptyTypes.has(type)).map((type) => {
        const { raw_total, value_total, unit } = this.graph(type).profiles[0]!;
        return [type, { raw_total, value_total, unit }];
      }),
    );
    const row = { cluster: 'local', namespace: 'shop', workload: 'checkout', targets: this.targets.length, last_seen: new Date().toISOString(), types };
    const light = { cpu: { raw_total: '4200000000', value_total: '4200000000', unit: 'ns' } };
    return [
      row,
      { ...row, workload: 'mailer', targets: 1, types: {} },
      { ...row, namespace: 'payments', workload: 'ledger-writer', targets: 12, types: light },
    ];
  }

  private meta(url: URL) {
    const time = (key: string) => new Date(Number(url.searchParams.get(key))).toISOString();
    return {
      from: time('from'),
      to: time('to'),
      fresh_until: FRESH,
      rows_scanned: 18_234 * this.age,
      nodes_omitted: 0,
      truncated: false,
      sampled: false,
      missing: [],
      coverage: this.coverage,
      lost_events: this.lostEvents,
      loss: this.loss,
      ledger: ledgerOf(0n),
    };
  }
}

function ledgerOf(seen: bigint) {
  return { seen: String(seen), truncated: '0', dropped: String(seen / 500n), omitted: String(seen / 80n) };
}

function fail(response: ServerResponse, { status, code, message, oldest }: { status: number; code: string; message: string; oldest?: string }): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: { code, message, oldest } }));
}

/** Returns a status row; its state is profiling unless `change` sets another. */
export function target(change: Record<string, unknown>): Record<string, unknown> {
  return {
    cluster: 'local',
    namespace: 'shop',
    workload: 'checkout',
    pod: 'checkout-6d5f7-x2x9k',
    container: 'app',
    node: 'node-1',
    pid: 4711,
    version: '2.4.1',
    jvm_version: '17.0.9+9',
    started: '2026-01-31T08:00:00.000Z',
    state: 'profiling',
    reason: '',
    message: '',
    fix: '',
    detail: '',
    last_window: new Date().toISOString(),
    observed: new Date().toISOString(),
    service: 'cart',
    jvm: '00000000000012ab',
    mode: 'continuous',
    mode_until: null,
    session: 'owned',
    coverage: 0.9994,
    overhead: 0.0039,
    ...change,
  };
}
