// The self-contained flame graph: one profile type at a time, all or one of its threads.
import type { Profile } from '../src/profile.ts';
import { NO_TRANSFORM } from '../src/transform.ts';
import { FlameView } from '../src/view.ts';
import { firstShown, frame, page, start, State, threadList } from './page.ts';

start((opened, engine) => {
  const state = new State();
  const begin = firstShown(opened, state);
  /** Asked for before the page is built. */
  let first: Promise<Profile> | null = engine.load(opened, begin, NO_TRANSFORM);
  const threads = opened.threads ? threadList((thread) => {
    const lens = { ...view.getLens(), thread };
    view.setLens(lens);
    options.onLens!(lens);
  }) : null;
  const options = state.viewOptions(engine);
  let zoom = state.zoom;
  const chosen = frame(opened, 'Flame graph', state, async (at) => {
    const profile = await (first ?? engine.load(opened, at, NO_TRANSFORM));
    first = null;
    threads?.fill(profile, view.getLens().thread);
    await view.setProfile(profile, opened.changes[at]);
    if (zoom.length > 0) view.setZoom(zoom);
    zoom = [];
    return profile;
  }, threads === null ? [] : [threads.element]);
  const view = new FlameView(page(), options);
  chosen.select(begin);
});
