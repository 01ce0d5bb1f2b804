// SPDX-License-Identifier: Apache-2.0
// The self-contained flame graph: one profile type at a time, all or one of its threads.
import { FlameView } from '../src/view.ts';
import { frame, keysGoTo, noThreadList, page, start, State, threadList } from './page.ts';

start((opened, engine) => {
  const state = new State();
  const threads = opened.threads ? threadList((thread) => {
    const lens = { ...view.getLens(), thread };
    view.setLens(lens);
    options.onLens!(lens);
  }) : null;
  const none = opened.threads ? null : noThreadList();
  const options = state.viewOptions(engine);
  let zoom = state.zoom;
  frame(opened, 'Flame graph', state, async (at) => {
    const profile = await engine.load(opened, at);
    threads?.fill(profile, view.getLens().thread);
    none?.toggleAttribute('hidden', profile.changes !== undefined); // a comparison never has threads
    await view.setProfile(profile);
    if (zoom.length > 0) view.setZoom(zoom);
    zoom = [];
    return profile;
  }, [threads?.element ?? none!]);
  const view = new FlameView(page(), options);
  keysGoTo('.hsf-scroll');
});
