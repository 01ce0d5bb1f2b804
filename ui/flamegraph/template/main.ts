// The self-contained page: reads the document that the exporter put into the file, and shows one profile type at a time.
import { element } from '../src/dom.ts';
import {
  currentScheme,
  FlameView,
  formatDecimal,
  formatPercent,
  groupDigits,
  parseDocument,
  typeName,
  visibleText,
  type FlameDocument,
  type Profile,
} from '../src/index.ts';
import { recordingInfo, type RecordingInfo } from '../src/recording.ts';
import './template.css';

const page = document.getElementById('page')!;

function problem(title: string, message: string): void {
  const text = element('p', {}, visibleText(message));
  page.replaceChildren(element('div', { class: 'problem', role: 'alert', 'data-testid': 'problem' }, element('strong', {}, title), text));
}

/** Null when nobody has filled the template. */
function embeddedText(): string | null {
  const text = document.getElementById('hotstack-data')?.textContent ?? '';
  return /^\s*(\/\*.*\*\/)?\s*$/.test(text) ? null : text;
}

function figure(name: string, value: string, testId?: string, unit = ''): HTMLElement {
  return element('span', {}, `${name} `, element('b', { 'data-testid': testId }, value), unit === '' ? '' : ` ${unit}`);
}

function showFigures(line: HTMLElement, profile: Profile): void {
  const omitted = profile.total.subarray(profile.nodeCount).reduce((sum, total) => sum + total, 0);
  line.replaceChildren(
    figure('Total', formatDecimal(profile.valueTotal, profile.unit)),
    figure('Exactly', profile.valueTotal, 'value-total', profile.unit),
    figure('Sampled', profile.rawTotal, 'raw-total', profile.unit),
    figure('Samples', groupDigits(String(profile.samples)), 'samples'),
    figure('Nodes', groupDigits(String(profile.nodeCount))),
    figure('Omitted', formatPercent(omitted, profile.total[0]!), 'omitted-percent'),
  );
}

function about({ facts }: RecordingInfo): HTMLElement[] {
  if (facts.length === 0) return [];
  const list = element('dl', {}, ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
  return [element('details', { class: 'about', 'data-testid': 'about' }, element('summary', {}, 'About this recording'), list)];
}

/** Losses are said before anybody reads the graph. */
function warnings({ notes }: RecordingInfo): HTMLElement[] {
  if (notes.length === 0) return [];
  const list = element('ul', {}, ...notes.map((note) => element('li', {}, note)));
  return [element('div', { class: 'warnings', role: 'note', 'data-testid': 'warnings' }, list)];
}

function themeButton(): HTMLElement {
  const button = element('button', { type: 'button', class: 'hsf-button theme' }, 'Light / dark');
  button.addEventListener('click', () => {
    document.documentElement.dataset['theme'] = currentScheme() === 'dark' ? 'light' : 'dark';
  });
  return button;
}

function show({ profiles, meta }: FlameDocument): void {
  const info = recordingInfo(meta);
  const title = info.title === '' ? 'Flame graph' : info.title;
  document.title = `${title} \u00b7 Hotstack`;
  const types = element('span', { class: 'types', role: 'group', 'aria-label': 'Profile type' });
  const figures = element('div', { class: 'figures', 'data-testid': 'figures' });
  page.replaceChildren(element('header', { class: 'head' }, element('h1', {}, title), types, themeButton()), figures, ...about(info), ...warnings(info));
  const view = new FlameView(page, { label: 'Flame graph', testId: 'flamegraph', topTable: true });
  const buttons = profiles.map((profile) => {
    const button = element('button', { type: 'button', class: 'hsf-button', 'data-type': profile.type }, visibleText(typeName(profile.type)));
    button.addEventListener('click', () => select(profile));
    return button;
  });
  const select = (chosen: Profile) => {
    profiles.forEach((profile, i) => buttons[i]!.setAttribute('aria-pressed', String(profile === chosen)));
    showFigures(figures, chosen);
    view.setProfile(chosen);
  };
  types.append(...buttons);
  const first = profiles.find((profile) => profile.total[0]! > 0) ?? profiles[0]!;
  select(first);
}

const json = embeddedText();
if (json === null) problem('No data', 'This is the empty template. "hotstack convert" and "hotstack profile" fill it with a recording.');
else {
  try {
    show(parseDocument(json));
  } catch (error) {
    problem('This file cannot be shown', (error as Error).message);
  }
}
