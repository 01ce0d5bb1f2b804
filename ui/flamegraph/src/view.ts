// The whole instrument: tool bar, graph, tables and live text around one Profile.
import { Chart } from './chart.ts';
import { sentence } from './describe.ts';
import { element, uniqueId } from './dom.ts';
import { formatPercent, formatValue, groupDigits } from './format.ts';
import { currentScheme, onSchemeChange, palette } from './palette.ts';
import type { Mode } from './painter.ts';
import { KINDS, type Profile } from './profile.ts';
import { exactQuery, heaviestFirst, search, type Matches } from './search.ts';
import { TopTable } from './toptable.ts';
import { TreeGrid } from './treegrid.ts';

export interface FlameViewOptions {
  /** What the graph is called to a screen reader. */
  label: string;
  /** data-testid of the root element. */
  testId?: string;
  /** Height of the graph before it scrolls, in CSS pixels; 0 (default) fills its place. */
  maxHeight?: number;
  mode?: Mode;
  query?: string;
  /** A top table computed from the graph itself. */
  topTable?: boolean;
  onQuery?: (query: string) => void;
  onMode?: (mode: Mode) => void;
}

type Panel = 'none' | 'tree' | 'top';

const KEYS: [string, string][] = [
  ['\u2190 \u2191 \u2192 \u2193', 'move to neighbour, parent, heaviest child'],
  ['Enter', 'zoom to the frame'],
  ['Backspace', 'zoom out one step'],
  ['Esc, 0', 'reset zoom'],
  ['Home', 'first frame of the zoom'],
  ['/, Ctrl+F', 'search'],
  ['n, N', 'next, previous match, heaviest first'],
  ['i', 'icicle or flame'],
  ['t', 'tree table'],
  ['c', 'copy the frame\u2019s name'],
  ['?', 'this help'],
];

export class FlameView {
  private readonly options: FlameViewOptions;
  private readonly root: HTMLElement;
  private readonly chart: Chart;
  private readonly tree: TreeGrid;
  private readonly top: TopTable | null;
  private readonly input: HTMLInputElement;
  private readonly matched = element('output', { class: 'hsf-matched', 'data-testid': 'matched-percent' });
  private readonly position = element('span', { class: 'hsf-position', 'data-testid': 'match-position' });
  private readonly live = element('div', { class: 'hsf-sr', 'aria-live': 'polite', 'data-testid': 'flamegraph-live' });
  private readonly zoomText = element('bdi', { class: 'hsf-zoom-text', dir: 'ltr', 'data-testid': 'zoom-label' });
  private readonly legend = element('ul', { class: 'hsf-legend', 'aria-label': 'Frame kinds' });
  private readonly help = element('div', { class: 'hsf-help', popover: 'auto', id: uniqueId('help') });
  private readonly buttons: Record<'previous' | 'next' | 'icicle' | 'flame' | 'reset' | 'tree' | 'top', HTMLButtonElement>;
  private readonly stopScheme: () => void;

  private profile: Profile | null = null;
  private active = 0;
  private matches: Matches | null = null;
  private matchAt = -1;
  /** The order of stepping, made at the first step: typing has no use for it. */
  private steps: Int32Array | null = null;
  private query: string;
  private mode: Mode;
  private panel: Panel = 'none';

  constructor(host: HTMLElement, options: FlameViewOptions) {
    this.options = options;
    this.query = options.query ?? '';
    this.mode = options.mode ?? 'icicle';
    this.chart = new Chart(options.label, options.maxHeight ?? 0, {
      onActive: (box, byUser) => this.activated(box, byUser),
      onZoom: () => this.zoomChanged(),
      onKey: (event) => this.key(event),
    });
    this.tree = new TreeGrid(`${options.label}, as a table`, {
      onSelect: (box) => this.chart.jumpTo(box),
      onOpen: (box) => this.chart.zoomTo(box),
    });
    this.top = options.topTable !== true ? null : new TopTable((label) => this.changeQuery(exactQuery(label)));
    this.input = element('input', {
      type: 'search',
      class: 'hsf-search',
      placeholder: 'Search frames (regex)',
      'aria-label': `Search in ${options.label}`,
      'data-testid': 'search-input',
      spellcheck: 'false',
      autocomplete: 'off',
    });
    this.input.value = this.query;
    this.buttons = {
      previous: this.button('\u2191', 'Previous match (N)', () => this.step(-1)),
      next: this.button('\u2193', 'Next match (n)', () => this.step(1)),
      icicle: this.button('Icicle', 'Icicle: root on top (i)', () => this.changeMode('icicle')),
      flame: this.button('Flame', 'Flame: root at the bottom (i)', () => this.changeMode('flame')),
      reset: this.button('Reset zoom', 'Reset zoom (Esc)', () => this.chart.zoomTo(0)),
      tree: this.button('Tree', 'Tree table (t)', () => this.togglePanel('tree')),
      top: this.button('Top', 'Top table', () => this.togglePanel('top')),
    };
    this.buttons.reset.dataset['testid'] = 'reset-zoom';
    this.buttons.tree.dataset['testid'] = 'tree-toggle';
    this.root = this.build();
    this.stopScheme = onSchemeChange(() => this.showLegend());
    this.chart.setMode(this.mode);
    this.showMode();
    this.showZoom();
    host.append(this.root);
  }

  private build(): HTMLElement {
    const { buttons, options } = this;
    this.input.addEventListener('input', () => this.changeQuery(this.input.value));
    this.input.addEventListener('keydown', (event) => this.inputKey(event));
    const keys = element('dl', {}, ...KEYS.flatMap(([key, what]) => [element('dt', {}, key), element('dd', {}, what)]));
    this.help.append(element('strong', {}, 'Keys in the graph'), keys);
    const help = element('button', { type: 'button', class: 'hsf-button', popovertarget: this.help.id, title: 'Keys (?)', 'aria-label': 'Keys' }, '?');
    const bar = element(
      'div',
      { class: 'hsf-bar', role: 'toolbar', 'aria-label': `${options.label}: tools` },
      element('span', { class: 'hsf-find' }, this.input, buttons.previous, buttons.next),
      this.matched,
      this.position,
      element('span', { class: 'hsf-gap' }),
      this.legend,
      element('span', { class: 'hsf-group' }, buttons.icicle, buttons.flame),
      element('span', { class: 'hsf-group' }, buttons.tree, ...(this.top === null ? [] : [buttons.top]), help),
    );
    const zoom = element('div', { class: 'hsf-zoom' }, buttons.reset, this.zoomText);
    const body = element('div', { class: 'hsf-body' }, this.chart.element, this.tree.element, ...(this.top === null ? [] : [this.top.element]));
    return element('section', { class: 'hsf', 'aria-label': options.label, 'data-testid': options.testId }, bar, zoom, body, this.live, this.help);
  }

  private button(text: string, title: string, action: () => void): HTMLButtonElement {
    const result = element('button', { type: 'button', class: 'hsf-button', title, 'aria-label': title.replace(/ \(.*/, '') }, text);
    result.addEventListener('click', action);
    return result;
  }

  destroy(): void {
    this.stopScheme();
    this.chart.destroy();
    this.root.remove();
  }

  /** Shows a profile; zoom, focus, search and open table rows stay where the last one had them. */
  setProfile(profile: Profile): void {
    this.profile = profile;
    const data = this.root.dataset;
    data['type'] = profile.type;
    data['nodes'] = String(profile.nodeCount);
    data['total'] = profile.valueTotal;
    data['rawTotal'] = profile.rawTotal;
    this.tree.setProfile(profile);
    this.top?.setProfile(profile);
    this.chart.setProfile(profile);
    this.showLegend();
    this.runSearch();
  }

  /** Sets the search from outside. While somebody types into this graph's own field, the field is right. */
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

  private changeQuery(query: string): void {
    this.applyQuery(query);
    this.options.onQuery?.(query);
  }

  private runSearch(): void {
    const { profile } = this;
    if (profile === null) return;
    this.matches = search(profile, this.query);
    this.matchAt = -1;
    this.steps = null;
    this.chart.setMatches(this.matches?.frames ?? null);
    this.showMatches();
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
    if (matches === null || profile === null || matches.nodes.length === 0) return;
    this.steps ??= heaviestFirst(profile, matches.nodes);
    const count = this.steps.length;
    this.matchAt = this.matchAt < 0 ? (by > 0 ? 0 : count - 1) : (this.matchAt + by + count) % count;
    this.chart.jumpTo(this.steps[this.matchAt]!);
    this.showMatches();
  }

  private changeMode(mode: Mode): void {
    this.setMode(mode);
    this.options.onMode?.(mode);
  }

  private showMode(): void {
    this.root.dataset['mode'] = this.mode;
    this.buttons.icicle.setAttribute('aria-pressed', String(this.mode === 'icicle'));
    this.buttons.flame.setAttribute('aria-pressed', String(this.mode === 'flame'));
  }

  private togglePanel(panel: Panel): void {
    this.panel = this.panel === panel ? 'none' : panel;
    this.tree.setShown(this.panel === 'tree');
    this.top?.setShown(this.panel === 'top');
    this.buttons.tree.setAttribute('aria-pressed', String(this.panel === 'tree'));
    this.buttons.top.setAttribute('aria-pressed', String(this.panel === 'top'));
    this.root.dataset['panel'] = this.panel;
  }

  private activated(box: number, byUser: boolean): void {
    this.active = box;
    const text = this.profile === null ? '' : sentence(this.profile, box);
    this.root.dataset['active'] = text;
    // New figures every few seconds are not worth being read out.
    if (byUser) this.live.textContent = text;
    this.tree.select(box, byUser);
  }

  private zoomChanged(): void {
    this.showZoom();
    this.root.dispatchEvent(new CustomEvent('hotstack-zoom', { bubbles: true, detail: { label: this.chart.zoomLabel() } }));
  }

  /** The line above the graph is always there, so that zooming does not move the graph under the mouse. */
  private showZoom(): void {
    const label = this.chart.zoomLabel();
    this.root.dataset['zoom'] = label;
    this.buttons.reset.disabled = label === '';
    this.zoomText.textContent = label === '' ? this.wholeText() : `Zoomed to ${label}`;
  }

  private wholeText(): string {
    const { profile } = this;
    if (profile === null) return '';
    const nodes = profile.nodeCount === 1 ? '1 node' : `${groupDigits(String(profile.nodeCount))} nodes`;
    return `Whole graph: ${formatValue(profile.total[0]!, profile.unit)}, ${nodes}`;
  }

  /** One entry for each kind that the graph has. */
  private showLegend(): void {
    const { profile } = this;
    if (profile === null) return;
    const colors = palette(currentScheme()).kinds;
    const used = new Set<number>();
    for (let frame = 0; frame < profile.frameCount; frame++) used.add(profile.frameKind(frame));
    const entries = KINDS.map((name, kind) => {
      const swatch = element('span', { class: 'hsf-swatch', 'aria-hidden': true });
      swatch.style.backgroundColor = colors[kind]!;
      return element('li', {}, swatch, name);
    });
    this.legend.replaceChildren(...entries.filter((_, kind) => used.has(kind)));
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

  /** The clipboard is there on https and localhost only. */
  private copyName(): void {
    const name = this.profile?.label(this.active) ?? '';
    navigator.clipboard?.writeText(name).then(
      () => (this.live.textContent = `Copied ${name}`),
      () => (this.live.textContent = 'The browser does not allow copying'),
    );
  }

  private key(event: KeyboardEvent): boolean {
    const modified = event.ctrlKey || event.metaKey;
    if (modified && event.key.toLowerCase() !== 'f') return false;
    switch (event.key) {
      case '/':
      case 'f':
        if (event.key === 'f' && !modified) return false;
        this.focusSearch();
        return true;
      case 'n':
        this.step(1);
        return true;
      case 'N':
        this.step(-1);
        return true;
      case 'i':
        this.changeMode(this.mode === 'icicle' ? 'flame' : 'icicle');
        return true;
      case 't':
        this.togglePanel('tree');
        return true;
      case 'c':
        this.copyName();
        return true;
      case '?':
        this.help.togglePopover();
        return true;
      default:
        return false;
    }
  }
}
