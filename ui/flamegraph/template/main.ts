// The self-contained flame graph: one profile type at a time, all or one of its threads.
import { NO_TRANSFORM } from '../src/transform.ts';
import { FlameView } from '../src/view.ts';
import { firstShown, frame, page, start, State, threadList } from './page.ts';

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
