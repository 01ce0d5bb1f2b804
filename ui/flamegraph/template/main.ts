// The self-contained flame graph: one profile type at a time, all or one of its threads.
import { element, on } from '../src/dom.ts';
import { NO_TRANSFORM } from '../src/transform.ts';
import { shorten } from '../src/text.ts';
import { FlameView } from '../src/view.ts';
import type { Profile } from '../src/profile.ts';
import { firstShown, frame, page, start, State } from './page.ts';

/** Which threads to show, heaviest first; filled anew for each profile. */
function threadList(choose: (thread: string) => void): { element: HTMLSelectElement; fill(profile: Profile, chosen: string): void } {
  const select = element('select', { class: 'hsf-button', 'aria-label': 'Threads', 'data-testid': 'threads' });
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

start((opened, engine) => {
  const state = new State();
  const threads = opened.threads ? threadList((thread) => {
    const lens = { ...view.getLens(), thread };
    view.setLens(lens);
    options.onLens!(lens);
  }) : null;
  const options = state.viewOptions(engine);
  let zoom: number[] | null = state.zoom;
  const chosen = frame(opened, 'Flame graph', state, async (at) => {
    const profile = await engine.load(opened, at, NO_TRANSFORM);
    threads?.fill(profile, view.getLens().thread);
    await view.setProfile(profile, opened.changes[at]);
    if (zoom !== null) view.setZoom(zoom);
    zoom = null;
    return profile;
  }, threads === null ? [] : [threads.element]);
  const view = new FlameView(page(), options);
  chosen.select(firstShown(opened, state));
});
