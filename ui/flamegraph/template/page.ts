// SPDX-License-Identifier: Apache-2.0
// The common parts of the self-contained pages: the embedded document, the worker, and the controls around the graph.
import { buttonOf, element, on, press } from '../src/dom.ts';
import { Engine, serveFrom, type OpenDocument } from '../src/engine.ts';
import { formatDecimal, formatPercent, groupDigits, typeName } from '../src/format.ts';
import type { HeatKitchen } from '../src/document/heat.ts';
import { readLens, writeLens } from '../src/lens/lens.ts';
import { currentScheme } from '../src/drawing/palette.ts';
import type { Mode } from '../src/drawing/painter.ts';
import type { Profile } from '../src/document/profile.ts';
import { recordingInfo, type RecordingInfo } from '../src/document/recording.ts';
import { shorten, visibleText } from '../src/text.ts';
import type { FlameViewOptions } from '../src/view.ts';
import './template.css';

/** The page's main element; there is none in the worker. */
export const page = (): HTMLElement => document.getElementById('page')!;

function problem(title: string, message: string): void {
  const text = element('p', {}, visibleText(message));
  page().replaceChildren(element('div', { class: 'problem', role: 'alert', testId: 'problem' }, element('strong', {}, title), text));
}

export function failed({ message }: Error): void {
  problem('This file cannot be shown', message);
}

/** Returns null for a template without a document. */
function embeddedText(): string | null {
  const text = document.getElementById('hotstack-data')?.textContent ?? '';
  return /^\s*(\/\*.*\*\/)?\s*$/.test(text) ? null : text;
}

/** Returns the document's text. An exporter writes it as it is, or as base64 of zlib's stream, which browsers call "deflate". */
async function unpacked(embedded: string): Promise<string> {
  if (embedded.trimStart().startsWith('{')) return embedded;
  if (typeof DecompressionStream === 'undefined') {
    throw new Error('This browser cannot unpack the data in it. Chrome 80, Firefox 113, Safari 16.4 and later can.');
  }
  const bytes = Uint8Array.from(atob(embedded), (unit) => unit.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).text();
}

function figure(name: string, value: string, testId?: string, unit = ''): HTMLElement {
  return element('span', {}, `${name} `, element('b', { testId: testId }, value), unit === '' ? '' : ` ${unit}`);
}

/** Returns the value under the frame of this name, which represents missing data. */
function through({ frames, frame, total, end, nodeCount }: Profile, name: string): number {
  const wanted = frames.find(`4${name}`);
  let sum = 0;
  if (wanted < 0) return 0;
  for (let node = 1; node < nodeCount; ) {
    const isIt = frame[node] === wanted;
    if (isIt) sum += total[node]!;
    node = isIt ? end[node]! : node + 1;
  }
  return sum;
}

function showFigures(line: HTMLElement, profile: Profile): void {
  const whole = profile.total[0]!;
  const omitted = profile.total.subarray(profile.nodeCount).reduce((sum, total) => sum + total, 0);
  const isComparison = profile.sides !== null;
  const older = isComparison ? [figure('Before', formatDecimal(String(profile.sides!.before[0]), profile.unit), 'before-total')] : [];
  const parts = [
    ...older,
    figure(isComparison ? 'After' : 'Total', formatDecimal(profile.valueTotal, profile.unit)),
    figure('Exactly', profile.valueTotal, 'value-total', profile.unit),
    figure('Sampled', profile.rawTotal, 'raw-total', profile.unit),
    figure('Samples', groupDigits(String(profile.samples)), 'samples'),
    figure('Nodes', groupDigits(String(profile.nodeCount))),
    figure('Omitted', formatPercent(omitted, whole), 'omitted-percent'),
  ];
  for (const [name, what] of [
    ['[truncated]', 'Stacks cut at their root'],
    ['[dropped]', 'Over the cap'],
  ] as const) {
    const part = through(profile, name);
    if (part > 0) parts.push(figure(what, formatPercent(part, whole), name));
  }
  line.replaceChildren(...parts);
}

function about({ facts }: RecordingInfo): HTMLElement[] {
  if (facts.length === 0) return [];
  const list = element('dl', {}, ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
  return [element('details', { class: 'about', testId: 'about' }, element('summary', {}, 'About this recording'), list)];
}

/** Makes the list of losses, which is above the graph so that users read it first. */
function warnings({ notes }: RecordingInfo): HTMLElement[] {
  if (notes.length === 0) return [];
  const list = element('ul', {}, ...notes.map((note) => element('li', {}, note)));
  return [element('div', { class: 'warnings', role: 'note', testId: 'warnings' }, list)];
}

function themeButton(): HTMLElement {
  const button = buttonOf({ class: 'hsf-button theme' }, 'Light / dark');
  on(button, 'click', () => {
    document.documentElement.dataset['theme'] = currentScheme() === 'dark' ? 'light' : 'dark';
  });
  return button;
}

/** The part of the address after '#'. It has the state of the page, so that users can keep it and share it. */
export class State {
  private readonly parts = new URLSearchParams(location.hash.slice(1));
  private timer = 0;

  get(name: string): string {
    return this.parts.get(name) ?? '';
  }

  set(name: string, value: string): void {
    if (value === '') this.parts.delete(name);
    else this.parts.set(name, value);
    this.write();
  }

  /** Writes the address in its own task, because that takes the browser as long as a frame of the graph. */
  private write(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const hash = this.parts.toString();
      if (hash !== location.hash.slice(1)) history.replaceState(null, '', hash === '' ? location.pathname + location.search : `#${hash}`);
    }) as unknown as number;
  }

  /** Makes a view that begins with the state in the address, and keeps the address up to date. */
  viewOptions(engine: Engine): FlameViewOptions {
    return {
      label: 'Flame graph',
      testId: 'flamegraph',
      topTable: true,
      engine,
      mode: this.get('view') === 'flame' ? 'flame' : 'icicle',
      query: this.get('q'),
      lens: readLens(this.parts),
      onQuery: (query) => this.set('q', query),
      onMode: (mode: Mode) => this.set('view', mode === 'icicle' ? '' : mode),
      onLens: (lens) => {
        writeLens(this.parts, lens);
        this.write();
      },
      onZoom: (path) => this.set('zoom', path.join('.')),
    };
  }

  get zoom(): number[] {
    return this.get('zoom').split('.').filter((part) => part !== '').map(Number);
  }
}

/** Makes a list of the threads to choose from, heaviest first; `fill` fills it anew for each profile. */
export function threadList(choose: (thread: string) => void): { element: HTMLSelectElement; fill(profile: Profile, chosen: string): void } {
  const select = element('select', { class: 'hsf-button', 'aria-label': 'Threads', testId: 'threads' });
  on(select, 'change', () => choose(select.value));
  return {
    element: select,
    fill: (profile, chosen) => {
      const threads = profile.children(0).filter((box) => !profile.isOmitted(box)).sort((a, b) => profile.total[b]! - profile.total[a]!);
      const option = (value: string, text: string) => element('option', { value, selected: value === chosen }, text);
      const named = threads.map((box) => option(profile.frames.key(profile.frame[box]!), shorten(profile.label(box), 60)));
      select.replaceChildren(option('', 'All threads, apart'), option('all', 'All threads, together'), ...named);
    },
  };
}

/** Replaces threadList in a page whose data has no threads, and says how to make a page with threads. */
export function noThreadList(): HTMLSelectElement {
  const title = 'This page sums the stacks of all threads. One with threads: hotstack convert --threads RECORDING -o PAGE, or in Python flamegraph(threads=True)';
  const select = element('select', { class: 'hsf-button', 'aria-label': 'Threads', title, testId: 'threads' }, element('option', {}, 'All threads, summed: made without --threads'));
  select.disabled = true;
  return select;
}

/** Shows heading, types, figures and warnings, and the first profile. `select` shows profile number `at`, or with -1 the first that is not empty, and returns it. */
export function frame(opened: OpenDocument, kind: string, state: State, select: (at: number) => Promise<Profile>, extra: HTMLElement[] = []): void {
  const info = recordingInfo(opened.meta);
  const title = info.title === '' ? kind : info.title;
  document.title = `${title} \u00b7 Hotstack`;
  const types = element('span', { class: 'hsf-group', role: 'group', 'aria-label': 'Profile type' });
  const figures = element('div', { class: 'figures', testId: 'figures' });
  let notice = element('div');
  page().replaceChildren(element('header', { class: 'head' }, element('h1', {}, title), types, ...extra, themeButton()), figures, ...about(info), ...warnings(info));
  let shown = '';
  const mark = (type: string | undefined) => buttons.forEach((button) => press(button, button.dataset['type'] === type));
  /** Shows a type. When it is damaged, the type before it stays. */
  const show = (at: number) => {
    notice.remove();
    mark(opened.types[at]);
    select(at).then(
      (profile) => {
        mark((shown = profile.type));
        if (at >= 0) state.set('type', shown);
        showFigures(figures, profile);
      },
      (error: Error) => {
        if (shown === '') return failed(error);
        mark(shown);
        notice = element('div', { class: 'warnings', role: 'alert' }, visibleText(`${typeName(opened.types[at]!)} cannot be shown: ${error.message}`));
        figures.append(notice);
      },
    );
  };
  const buttons = opened.types.map((type, at) => {
    const button = buttonOf({ class: 'hsf-button', 'data-type': type }, visibleText(typeName(type)));
    on(button, 'click', () => show(at));
    return button;
  });
  types.append(...buttons);
  show(opened.types.indexOf(state.get('type')));
}

/** Passes keys that nothing else on the page uses to an element, also before a user has clicked on it. */
export function keysGoTo(selector: string): void {
  document.addEventListener('keydown', (event) => {
    const target = page().querySelector<HTMLElement>(selector);
    if (target === null || event.target !== document.body || target.dispatchEvent(new KeyboardEvent('keydown', event))) return;
    event.preventDefault();
    if (document.activeElement === document.body) target.focus({ preventScroll: true });
  });
}

/** Runs the page or, when loaded as the page's worker, the kitchen. The worker is this same script, so that the file has it once. */
export function start(show: (opened: OpenDocument, engine: Engine) => void, heat: HeatKitchen | null = null): void {
  if (typeof document === 'undefined') return serveFrom(self as never, heat);
  const json = embeddedText();
  const script = document.currentScript!.textContent;
  if (json === null) return problem('No data', 'An empty template: "hotstack convert" fills it.');
  const engine = new Engine(() => new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' }))), heat);
  unpacked(json)
    .then((text) => engine.open(text))
    .then((opened) => show(opened, engine), failed);
}
