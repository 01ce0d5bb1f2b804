// SPDX-License-Identifier: Apache-2.0
// The whole instrument: tool bar, graph, tables and live text around one Profile.
import { Chart } from './drawing/chart.ts';
import { sentence } from './describe.ts';
import { buttonOf, element, helpOn, on, press, tool } from './dom.ts';
import { Engine } from './engine.ts';
import { formatPercent, formatValue, groupDigits } from './format.ts';
import { KINDS } from './document/frames.ts';
import { callersOf, NO_LENS, transformOf, type Lens } from './lens/lens.ts';
import { Menu, type MenuItem } from './menu.ts';
import { Minimap } from './drawing/minimap.ts';
import { currentScheme, onSchemeChange, palette } from './drawing/palette.ts';
import type { Mode } from './drawing/painter.ts';
import type { Profile } from './document/profile.ts';
import { exactQuery, nextMatch, searching, type Matches } from './lens/search.ts';
import { inSlices } from './lens/slices.ts';
import { shorten } from './text.ts';
import { TopTable } from './tables/toptable.ts';
import { isPlain } from './lens/transform.ts';
import { TreeGrid } from './tables/treegrid.ts';

export interface FlameViewOptions {
  /** The graph's name for screen readers. */
  label: string;
  /** data-testid of the root element. */
  testId?: string;
  /** Height of the graph before it scrolls, in CSS pixels; 0 (default) fills its place. */
  maxHeight?: number;
  mode?: Mode;
  query?: string;
  lens?: Lens;
  /** Computes other views of the tree; without one the view makes its own, in the page. */
  engine?: Engine;
  /** A top table computed from the graph itself. */
  topTable?: boolean;
  onQuery?: (query: string) => void;
  onMode?: (mode: Mode) => void;
  onLens?: (lens: Lens) => void;
  onZoom?: (path: number[]) => void;
}

type Panel = 'none' | 'tree' | 'top';

/** The panel that the key t shows. */

/** A line for each key, with its effect. */
const KEYS = `Arrow keys|neighbour, parent, heaviest child
Enter|zoom to the frame
+ -|zoom in, out (Ctrl + wheel)
Shift ← →|pan
Backspace|zoom out one step
0|reset zoom
Esc|reset zoom, then the view
Home|first frame of the zoom
/, Ctrl+F|search
n, N|next, previous match
m|menu of the frame
f|focus: the frame and its callees
s|sandwich: its callers and callees
x|remove the stacks through it (Ctrl + click)
u|undo
d|collapse recursion
r|reverse: leaves first
i|icicle or flame
t|tree table
c|copy its name
?|this help`;

export class FlameView {
  private readonly options: FlameViewOptions;
  private readonly engine: Engine;
  private readonly root: HTMLElement;
  private readonly chart: Chart;
  private readonly callers: Chart;
  private readonly map: Minimap;
  private readonly tree: TreeGrid;
  private readonly top: TopTable | null;
  private readonly input: HTMLInputElement;
  private readonly menu = new Menu(() => this.at.focus());
  private readonly matched = element('output', { class: 'hsf-matched', testId: 'matched-percent' });
  private readonly position = element('span', { class: 'hsf-position', testId: 'match-position' });
  private readonly live = element('div', { class: 'hsf-sr', 'aria-live': 'polite', testId: 'flamegraph-live' });
  private readonly zoomText = element('bdi', { class: 'hsf-zoom-text', dir: 'ltr', testId: 'zoom-label' });
  private readonly chips = element('span', { class: 'hsf-chips', testId: 'lens' });
  private readonly sandwich = element('div', { class: 'hsf-callers', testId: 'callers' });
  private readonly legend = element('ul', { class: 'hsf-legend', 'aria-label': 'Colours', testId: 'legend' });
  private readonly help = helpOn('Keys in the graph', KEYS);
  private readonly buttons: Record<'previous' | 'next' | 'icicle' | 'flame' | 'reverse' | 'reset' | 'top', HTMLButtonElement>;
  private readonly treeButton = tool('Tree', 'Tree table (t)', () => this.togglePanel('tree'));
  private readonly stopScheme: () => void;

  /** As given, as shown, and the other half of a sandwich. */
  private base: Profile | null = null;
  private profile: Profile | null = null;
  private lens: Lens;
  private readonly past: Lens[] = [];
  /** Counts the requests to the engine, so that the answer to an older request is dropped. */
  private asked = 0;
  /** The chart that had the focus last. */
  private at: Chart;
  private active = 0;
  private matches: Matches | null = null;
  private match = -1;
  private matchAt = -1;
  private stopSearch = () => {};
  private isSearching = false;
  /** The steps of the user while the search was running. */
  private steps = 0;
  private query: string;
  private mode: Mode;
  private panel: Panel = 'none';

  constructor(host: HTMLElement, options: FlameViewOptions) {
    this.options = options;
    this.engine = options.engine ?? new Engine(null);
    this.query = options.query ?? '';
    this.mode = options.mode ?? 'icicle';
    this.lens = options.lens ?? NO_LENS;
    this.chart = this.newChart(options.label, options.maxHeight ?? 0, 'flamegraph-canvas');
    this.callers = this.newChart(`${options.label}: callers`, 240, 'callers-canvas');
    this.at = this.chart;
    this.map = new Minimap((from, to) => this.chart.showRange(from, to));
    this.tree = new TreeGrid(`${options.label}, as a table`, {
      onSelect: (box) => this.at.jumpTo(box),
      onOpen: (box) => this.at.zoomTo(box),
    });
    this.top = options.topTable !== true ? null : new TopTable((label) => this.changeQuery(exactQuery(label)));
    this.input = element('input', {
      type: 'search',
      class: 'hsf-search',
      placeholder: 'Search frames (regex)',
      'aria-label': `Search in ${options.label}`,
      testId: 'search-input',
      spellcheck: 'false',
      autocomplete: 'off',
    });
    this.input.value = this.query;
    this.buttons = {
      previous: tool('\u2191', 'Previous match (N)', () => this.step(-1)),
      next: tool('\u2193', 'Next match (n)', () => this.step(1)),
      icicle: tool('Icicle', 'Icicle: root on top (i)', () => this.changeMode('icicle')),
      flame: tool('Flame', 'Flame: root at the bottom (i)', () => this.changeMode('flame')),
      reverse: tool('Reverse', 'Reverse: leaves first (r)', () => this.change({ reverse: !this.lens.reverse })),
      reset: tool('Reset zoom', 'Reset zoom (0)', () => this.at.zoomTo(0)),
      top: tool('Top', 'Top table', () => this.togglePanel('top')),
    };
    this.buttons.reset.dataset['testid'] = 'reset-zoom';
    this.treeButton.dataset['testid'] = 'tree-toggle';
    this.root = this.build();
    this.stopScheme = onSchemeChange(() => {
      this.showLegend();
      this.map.paint();
    });
    this.chart.setMode(this.mode);
    this.callers.setMode('flame');
    this.showMode();
    this.showLens();
    this.showZoom();
    host.append(this.root);
  }

  private newChart(label: string, maxHeight: number, testId: string): Chart {
    const chart: Chart = new Chart(label, maxHeight, testId, {
      onActive: (box, byUser) => this.activated(chart, box, byUser),
      onZoom: () => this.zoomChanged(chart),
      onRange: (from, to) => {
        if (chart === this.chart) this.map.setRange(from, to);
      },
      onMenu: (box, x, y) => this.openMenu(box, x, y),
      onRemove: (box) => this.removeFrame(chart.shown!.frame[box]!),
      onFocus: () => this.use(chart),
      onKey: (event) => this.key(event),
    });
    return chart;
  }

  private build(): HTMLElement {
    const { buttons, options } = this;
    on(this.input, 'input', () => this.changeQuery(this.input.value));
    on(this.input, 'keydown', (event) => this.inputKey(event));
    const help = tool('?', 'Keys (?)', () => this.help.togglePopover());
    const bar = element(
      'div',
      { class: 'hsf-bar', role: 'toolbar', 'aria-label': `${options.label}: tools` },
      element('span', { class: 'hsf-find' }, this.input, buttons.previous, buttons.next),
      this.matched,
      this.position,
      element('span', { class: 'hsf-gap' }),
      this.legend,
      element('span', { class: 'hsf-group' }, buttons.icicle, buttons.flame, buttons.reverse),
      element('span', { class: 'hsf-group' }, this.treeButton, ...(this.top === null ? [] : [buttons.top]), help),
    );
    const zoom = element('div', { class: 'hsf-zoom' }, buttons.reset, this.chips, this.zoomText);
    this.sandwich.append(element('div', { class: 'hsf-half' }, 'Callers, nearest at the bottom'), this.callers.element, element('div', { class: 'hsf-half' }, 'Callees'));
    const body = element('div', { class: 'hsf-body' }, this.map.element, this.chart.element, this.tree.element, ...(this.top === null ? [] : [this.top.element]));
    return element('section', { class: 'hsf', 'aria-label': options.label, testId: options.testId }, bar, zoom, body, this.live, this.help, this.menu.element);
  }

  destroy(): void {
    this.stopScheme();
    this.stopSearch();
    this.asked++;
    if (this.options.engine === undefined) this.engine.destroy();
    this.chart.destroy();
    this.callers.destroy();
    this.root.remove();
  }

  /** Shows a profile; zoom, focus, search and open table rows stay where the last one had them. Done at once where the lens is plain. */
  setProfile(profile: Profile): Promise<void> {
    this.base = profile;
    const data = this.root.dataset;
    data['type'] = profile.type;
    data['nodes'] = String(profile.nodeCount);
    data['total'] = profile.valueTotal;
    data['rawTotal'] = profile.rawTotal;
    this.top?.setChanges(profile.changes ?? []);
    return this.refresh();
  }

  /** Applies the lens to the profile, and shows the result. */
  private async refresh(): Promise<void> {
    const { base, lens } = this;
    if (base === null) return;
    const ask = ++this.asked;
    const transform = transformOf(lens, base.frames);
    const halves = lens.sandwich !== '' && transform.focus >= 0;
    if (isPlain(transform)) return this.show(base, null);
    this.root.setAttribute('aria-busy', 'true');
    const views = [this.engine.show(base, transform), ...(halves ? [this.engine.show(base, callersOf(transform))] : [])];
    try {
      const [main, callers] = await Promise.all(views);
      if (ask === this.asked) this.show(main!, callers ?? null);
    } catch (error) {
      this.live.textContent = `This view cannot be made: ${(error as Error).message}`;
      this.root.removeAttribute('aria-busy');
    }
  }

  private show(main: Profile, callers: Profile | null): void {
    this.profile = main;
    this.root.removeAttribute('aria-busy');
    if (callers === null) {
      this.sandwich.remove();
      this.at = this.chart;
    } else {
      this.chart.element.insertAdjacentElement('beforebegin', this.sandwich!);
      this.callers.setProfile(callers);
    }
    this.root.dataset['shown'] = String(main.total[0]);
    this.tree.setProfile(this.at.shown ?? main);
    this.top?.setProfile(main);
    this.chart.setProfile(main);
    this.use(this.at);
    this.map.setProfile(main, this.chart.fills!);
    this.showLegend();
    this.showLens();
    this.runSearch();
  }

  /** Makes the tables and the live text follow the chart that has the focus. */
  private use(chart: Chart): void {
    this.at = chart;
    const profile = chart.shown;
    if (profile !== null) this.tree.setProfile(profile);
    this.showZoom();
  }

  /** Sets the lens from outside. */
  setLens(lens: Lens): void {
    if (JSON.stringify(lens) === JSON.stringify(this.lens)) return;
    this.lens = lens;
    this.showLens();
    void this.refresh();
  }

  getLens(): Lens {
    return this.lens;
  }

  private change(part: Partial<Lens>): void {
    this.past.push(this.lens);
    this.setLens({ ...this.lens, ...part });
    this.options.onLens?.(this.lens);
  }

  private undo(): void {
    const before = this.past.pop();
    if (before === undefined) return;
    this.setLens(before);
    this.options.onLens?.(this.lens);
  }

  private removeFrame(frame: number): void {
    if (frame >= 0) this.change({ remove: [...this.lens.remove, this.base!.frames.key(frame)] });
  }

  /** Shows a button for each part of the lens, which removes that part. */
  private showLens(): void {
    const { lens } = this;
    press(this.buttons.reverse, lens.reverse);
    const name = (key: string) => {
      const frame = this.base?.frames.find(key) ?? -1;
      return frame < 0 ? key.slice(1) : this.base!.frames.label(frame);
    };
    const parts: [string, Partial<Lens>][] = lens.remove.map((key) => [`Without ${name(key)}`, { remove: lens.remove.filter((other) => other !== key) }]);
    if (lens.fold) parts.push(['Recursion collapsed', { fold: false }]);
    if (lens.focus !== '' && lens.sandwich === '') parts.push([`Focus on ${name(lens.focus)}`, { focus: '' }]);
    if (lens.sandwich !== '') parts.push([`Sandwich of ${name(lens.sandwich)}`, { sandwich: '' }]);
    const chips = parts.map(([text, without]) => {
      const chip = buttonOf({ class: 'hsf-chip', title: `Take away: ${text}` }, element('bdi', { dir: 'ltr' }, shorten(text, 80)), ' \u2715');
      on(chip, 'click', () => this.change(without));
      return chip;
    });
    this.chips.replaceChildren(...chips);
    this.root.dataset['lens'] = parts.map(([text]) => text).join('; ');
  }

  private openMenu(box: number, x: number, y: number): void {
    const profile = this.at.shown!;
    const frame = profile.frame[box]!;
    const key = frame < 0 ? '' : profile.frames.key(frame);
    const name = profile.label(box);
    const items: MenuItem[] = [{ label: 'Zoom here', key: '', action: () => this.at.zoomTo(box) }];
    if (frame >= 0) {
      items.push(
        { label: 'Focus on it', key: 'f', action: () => this.change({ focus: key }) },
        { label: 'Sandwich: callers and callees', key: 's', action: () => this.change({ sandwich: key }) },
        { label: 'Remove its stacks', key: 'x', action: () => this.removeFrame(frame) },
        { label: 'Find it everywhere', key: '/', action: () => this.changeQuery(exactQuery(name)) },
        { label: 'Copy its name', key: 'c', action: () => this.copy(name) },
        { label: 'Copy its stack', key: 'C', action: () => this.copy(this.stackText(profile, box)) },
      );
    }
    items.push(
      { label: this.lens.fold ? 'Show recursion' : 'Collapse recursion', key: 'd', action: () => this.change({ fold: !this.lens.fold }) },
      { label: this.lens.reverse ? 'Roots first' : 'Reverse: leaves first', key: 'r', action: () => this.change({ reverse: !this.lens.reverse }) },
      { label: 'Reset the view', key: '0', action: () => this.resetView() },
    );
    this.menu.show(shorten(name, 100), items, x, y);
  }

  private stackText(profile: Profile, box: number): string {
    return profile.ancestry(box).slice(1).map((at) => profile.label(at)).reverse().join('\n');
  }

  private resetView(): void {
    this.change({ ...NO_LENS, thread: this.lens.thread });
    this.chart.zoomTo(0);
  }

  /** Sets the search from outside, unless the user is typing into this graph's own field. */
  setQuery(query: string): void {
    if (document.activeElement !== this.input) this.applyQuery(query);
  }

  private applyQuery(query: string): void {
    if (query === this.query) return;
    this.query = query;
    if (this.input.value !== query) this.input.value = query;
    this.runSearch();
  }

  setMode(mode: Mode): void {
    if (mode === this.mode) return;
    this.mode = mode;
    this.chart.setMode(mode);
    this.showMode();
  }

  /** Zooms to the box at the end of these frames. */
  setZoom(path: number[]): void {
    this.chart.zoomToPath(path);
  }

  private changeQuery(query: string): void {
    this.applyQuery(query);
    this.options.onQuery?.(query);
  }

  private runSearch(): void {
    const { profile } = this;
    this.stopSearch();
    if (profile === null) return;
    this.matches = null;
    this.match = this.matchAt = -1;
    this.steps = 0;
    this.isSearching = true;
    this.showMatches();
    this.stopSearch = inSlices(searching(profile, this.query), (matches) => {
      this.matches = matches;
      this.isSearching = false;
      for (const chart of [this.chart, this.callers]) chart.setMatches(matches?.frames ?? null);
      this.showMatches();
      if (this.steps !== 0) this.step(this.steps);
    });
  }

  private showMatches(): void {
    const { matches, profile } = this;
    const none = matches === null || matches.nodes.length === 0;
    this.buttons.next.disabled = this.buttons.previous.disabled = none;
    if (matches === null || profile === null) {
      this.matched.textContent = '';
      this.position.textContent = '';
      return;
    }
    const value = formatValue(matches.total, profile.unit);
    this.matched.textContent = `${formatPercent(matches.total, profile.total[0]!)} matched`;
    this.matched.title = `${value} in ${matches.nodes.length} frames of the graph`;
    const place = this.matchAt < 0 ? '' : `${this.matchAt + 1}/`;
    this.position.textContent = `${place}${matches.nodes.length}${matches.isRegex ? '' : ' (as text)'}`;
  }

  private step(by: number): void {
    const { matches, profile } = this;
    if (this.isSearching) this.steps = by;
    if (matches === null || profile === null || matches.nodes.length === 0) return;
    const count = matches.nodes.length;
    this.matchAt = this.matchAt < 0 ? (by > 0 ? 0 : count - 1) : (this.matchAt + by + count) % count;
    this.match = nextMatch(profile, matches.nodes, this.match, by);
    this.chart.jumpTo(this.match);
    this.showMatches();
  }

  private changeMode(mode: Mode): void {
    this.setMode(mode);
    this.options.onMode?.(mode);
  }

  private showMode(): void {
    this.root.dataset['mode'] = this.mode;
    press(this.buttons.icicle, this.mode === 'icicle');
    press(this.buttons.flame, this.mode === 'flame');
  }

  private togglePanel(panel: Panel): void {
    this.panel = this.panel === panel ? 'none' : panel;
    this.tree.setShown(this.panel === 'tree');
    this.top?.setShown(this.panel === 'top');
    press(this.treeButton, this.panel === 'tree');
    press(this.buttons.top, this.panel === 'top');
    this.root.dataset['panel'] = this.panel;
  }

  private activated(chart: Chart, box: number, byUser: boolean): void {
    if (chart !== this.at) return;
    this.active = box;
    const text = chart.shown === null ? '' : sentence(chart.shown, box);
    this.root.dataset['active'] = text;
    // Screen readers must not read new figures every few seconds.
    if (byUser) this.live.textContent = text;
    this.tree.select(box, byUser);
  }

  private zoomChanged(chart: Chart): void {
    this.showZoom();
    if (chart === this.chart) this.options.onZoom?.(chart.zoomPath);
  }

  /** Fills the line above the graph. It is always there, so that zooming does not move the graph under the mouse. */
  private showZoom(): void {
    const label = this.at.zoomLabel();
    this.root.dataset['zoom'] = label;
    this.buttons.reset.disabled = label === '';
    this.zoomText.textContent = label === '' ? this.wholeText() : `Zoomed to ${label}`;
  }

  private wholeText(): string {
    const { profile, base } = this;
    if (profile === null || base === null) return '';
    const nodes = profile.nodeCount === 1 ? '1 node' : `${groupDigits(String(profile.nodeCount))} nodes`;
    const [shown, whole] = [profile.total[0]!, base.total[0]!];
    const share = shown === whole ? 'Whole graph' : `${formatPercent(shown, whole)} of the whole`;
    return `${share}: ${formatValue(shown, profile.unit)}, ${nodes}`;
  }

  /** Shows one entry for each kind in the graph; for a comparison, the meaning of its colours. */
  private showLegend(): void {
    const { profile } = this;
    if (profile === null) return;
    const colors = palette(currentScheme());
    const entry = (name: string, color: string) => {
      const swatch = element('span', { class: 'hsf-swatch', 'aria-hidden': true });
      swatch.style.backgroundColor = color;
      return element('li', {}, swatch, name);
    };
    const used = new Set(profile.frames.columns.kind);
    const kinds = KINDS.map((name, kind) => entry(name, colors.kinds[kind]!)).filter((_, kind) => used.has(kind));
    const changes = ['less', 'the same', 'more'].map((name, i) => entry(name, colors.changes[i]!));
    this.legend.replaceChildren(...(profile.sides === null ? kinds : changes));
  }

  private focusSearch(): void {
    this.input.focus();
    this.input.select();
  }

  private inputKey(event: KeyboardEvent): void {
    if (event.key === 'Enter') this.step(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') {
      this.changeQuery('');
      this.chart.focus();
    } else return;
    event.preventDefault();
  }

  /** Browsers have a clipboard only on https, on localhost and, mostly, in files. */
  private copy(text: string): void {
    const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error());
    copied.then(
      () => (this.live.textContent = `Copied ${text}`),
      () => (this.live.textContent = 'The browser does not allow copying'),
    );
  }

  /** Undoes the nearest change on Escape: the zoom, then the view. */
  private escape(): void {
    if (this.at.zoomLabel() === '' && this.root.dataset['lens'] !== '') this.resetView();
    else this.at.zoomTo(0);
  }

  private key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() === 'f') this.focusSearch();
      return event.key.toLowerCase() === 'f';
    }
    const profile = this.at.shown;
    const frame = profile?.frame[this.active] ?? -1;
    const withFrame = (part: Partial<Lens>) => frame >= 0 && this.change(part);
    const key = frame >= 0 ? profile!.frames.key(frame) : '';
    const actions = new Map<string, () => void>([
      ['/', () => this.focusSearch()],
      ['n', () => this.step(1)],
      ['N', () => this.step(-1)],
      ['i', () => this.changeMode(this.mode === 'icicle' ? 'flame' : 'icicle')],
      ['t', () => this.togglePanel('tree')],
      ['r', () => this.change({ reverse: !this.lens.reverse })],
      ['d', () => this.change({ fold: !this.lens.fold })],
      ['f', () => withFrame({ focus: key })],
      ['s', () => withFrame({ sandwich: key })],
      ['x', () => this.removeFrame(frame)],
      ['u', () => this.undo()],
      ['m', () => this.at.openMenu()],
      ['c', () => this.copy(profile?.label(this.active) ?? '')],
      ['C', () => profile !== null && this.copy(this.stackText(profile, this.active))],
      ['?', () => this.help.togglePopover()],
      ['Escape', () => this.escape()],
    ]);
    const action = actions.get(event.key);
    action?.();
    return action !== undefined;
  }
}
