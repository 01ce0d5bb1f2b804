// SPDX-License-Identifier: Apache-2.0
// The work that must not block the page: reading documents, laying trees out, other views of a tree. It runs in a worker; where there
// is none (an old browser, a policy that forbids it) in the page itself.
import { openDocument, parseJson, type OpenedDocument } from './document/document.ts';
import { Frames, type FrameColumns } from './document/frames.ts';
import { buffers, layout, type Columns, type Layout } from './document/layout.ts';
import type { Cells, Heat, HeatKitchen } from './document/heat.ts';
import { Profile, type Head } from './document/profile.ts';
import { NO_TRANSFORM, transformed, type Transform } from './lens/transform.ts';

/** The number of the source that is a stretch of another. */
const PICKED = -1;

type Request =
  | { op: 'open'; json: string }
  | { op: 'load'; at: number }
  | { op: 'put'; source: number; frames: FrameColumns; columns: Columns }
  | { op: 'show'; source: number; transform: Transform }
  | { op: 'buckets'; source: number; thread: number }
  | { op: 'part'; source: number; as: number; from: number; to: number };

type Opened = Omit<OpenedDocument, 'profile'>;

interface Loaded {
  source: number;
  head: Head;
  place: Layout;
}

/** The worker's side. */
export class Kitchen {
  private readonly sources = new Map<number, { columns: Columns; ranks: () => Int32Array; cells: Cells | null }>();
  /** Of the document that was opened. */
  private load!: (at: number) => Loaded;

  private add(source: number, columns: Columns, ranks: () => Int32Array, cells: Cells | null): void {
    this.sources.set(source, { columns, ranks, cells });
  }

  /** Only pages with heatmaps pass `heat`. */
  constructor(private readonly heat: HeatKitchen | null) {}

  private static ranksOf(frames: FrameColumns): () => Int32Array {
    let made: Int32Array | null = null;
    return () => (made ??= new Frames(frames).ranks());
  }

  /** Returns the answer, and the buffers in it that can be moved rather than copied. */
  serve(request: Request): [answer: unknown, moved: ArrayBufferLike[]] {
    if (request.op === 'open') {
      const { profile, ...opened } = openDocument(parseJson(request.json), this.heat);
      const ranks = Kitchen.ranksOf(opened.frames);
      this.load = (at) => {
        const hasSome = (_: string, i: number) => Number(profile(i).head.valueTotal) > 0;
        const source = at < 0 ? Math.max(0, opened.types.findIndex(hasSome)) : at;
        const { head, columns, cells } = profile(source);
        this.add(source, columns, ranks, cells);
        return { source, head, place: layout(columns) };
      };
      return [opened, []];
    }
    if (request.op === 'load') {
      const loaded = this.load(request.at);
      return [loaded, buffers(loaded.place)];
    }
    if (request.op === 'put') {
      this.add(request.source, request.columns, Kitchen.ranksOf(request.frames), null);
      return [null, []];
    }
    const source = this.sources.get(request.source)!;
    if (request.op === 'buckets') return [this.heat!.sum(source.columns, source.cells!, request.thread), []];
    if (request.op === 'part') {
      this.add(request.as, this.heat!.pick(source.columns, source.cells!, request.from, request.to), source.ranks, null);
      return [null, []];
    }
    const place = layout(transformed(source.columns, source.ranks(), request.transform));
    return [place, buffers(place)];
  }
}

interface Message {
  id: number;
  answer?: unknown;
  error?: string;
}

/** Makes the worker's global scope answer. */
export function serveFrom(scope: { onmessage: unknown; postMessage(message: Message, moved: Transferable[]): void }, heat: HeatKitchen | null = null): void {
  const kitchen = new Kitchen(heat);
  scope.onmessage = ({ data: { id, request } }: MessageEvent<{ id: number; request: Request }>) => {
    try {
      const [answer, moved] = kitchen.serve(request);
      scope.postMessage({ id, answer }, moved as Transferable[]);
    } catch (error) {
      scope.postMessage({ id, error: (error as Error).message }, []);
    }
  };
}

/** A document as opened: its profiles are decoded and laid out when they are shown. */
export interface OpenDocument extends Omit<Opened, 'frames'> {
  frames: Frames;
}

export class Engine {
  private worker: Worker | null = null;
  private local: Kitchen | null = null;
  private readonly waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void; request: Request }>();
  private readonly known = new WeakMap<Profile, number>();
  private lastId = 0;
  private lastSource = 1_000_000;

  /** `start` makes the worker; it may throw, or be null for none. Only pages with heatmaps pass `extra`. */
  constructor(
    start: (() => Worker) | null,
    private readonly extra: HeatKitchen | null = null,
  ) {
    try {
      this.worker = start?.() ?? null;
    } catch {
      this.worker = null;
    }
    if (this.worker === null) return;
    this.worker.onmessage = ({ data }: MessageEvent<Message>) => this.answered(data);
    this.worker.onerror = () => this.goLocal();
  }

  destroy(): void {
    this.worker?.terminate();
    this.waiting.clear();
  }

  private answered({ id, answer, error }: Message): void {
    const { resolve, reject } = this.waiting.get(id)!;
    this.waiting.delete(id);
    if (error === undefined) resolve(answer as never);
    else reject(new Error(error));
  }

  /** Runs the requests in the page, in their order, when the worker could not be loaded. */
  private goLocal(): void {
    this.worker?.terminate();
    this.worker = null;
    for (const [id, { request }] of this.waiting) this.cook(id, request);
  }

  private cook(id: number, request: Request): void {
    this.local ??= new Kitchen(this.extra);
    try {
      this.answered({ id, answer: this.local.serve(request)[0] });
    } catch (error) {
      this.answered({ id, error: (error as Error).message });
    }
  }

  private ask<T>(request: Request): Promise<T> {
    const id = ++this.lastId;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, request });
      if (this.worker === null) this.cook(id, request);
      else this.worker.postMessage({ id, request });
    });
  }

  async open(json: string): Promise<OpenDocument> {
    const opened = await this.ask<Opened>({ op: 'open', json });
    return { ...opened, frames: new Frames(opened.frames) };
  }

  /** Returns profile number `at` of the opened document, or with -1 the first that is not empty. */
  async load({ frames }: OpenDocument, at: number): Promise<Profile> {
    const { source, head, place } = await this.ask<Loaded>({ op: 'load', at });
    const profile = new Profile(head, frames, place);
    this.known.set(profile, source);
    return profile;
  }

  /** Returns the sums by bucket of a loaded profile, for one thread's frame or, with -1, for all. */
  heat(profile: Profile, thread: number): Promise<Heat> {
    return this.ask<Heat>({ op: 'buckets', source: this.known.get(profile)!, thread });
  }

  /** Returns the part of a loaded profile between two buckets. Only the last such part is kept. */
  async pick(whole: Profile, from: number, to: number): Promise<Profile> {
    await this.ask({ op: 'part', source: this.known.get(whole)!, as: PICKED, from, to });
    const place = await this.ask<Layout>({ op: 'show', source: PICKED, transform: NO_TRANSFORM });
    const { type, unit, frames } = whole;
    const profile = new Profile({ type, unit, rawTotal: '', valueTotal: String(place.total[0]), samples: 0 }, frames, place);
    this.known.set(profile, PICKED);
    return profile;
  }

  /** Returns another view of a profile. */
  async show(profile: Profile, transform: Transform): Promise<Profile> {
    let source = this.known.get(profile);
    if (source === undefined) {
      source = ++this.lastSource;
      this.known.set(profile, source);
      void this.ask({ op: 'put', source, frames: profile.frames.columns, columns: profile.columns() });
    }
    const place = await this.ask<Layout>({ op: 'show', source: source!, transform });
    return new Profile(profile.head, profile.frames, place);
  }
}
