// SPDX-License-Identifier: Apache-2.0
// The self-contained heatmap: one profile type at a time, all or one of its threads, and the flame graph of the selection.
import { heatKitchen } from '../src/document/heat.ts';
import { HeatMap, type Stretch } from '../src/drawing/heatmap.ts';
import type { Profile } from '../src/document/profile.ts';
import { FlameView } from '../src/view.ts';
import { failed, frame, keysGoTo, noThreadList, page, start, State, threadList } from './page.ts';
import './heatmap.css';

start((opened, engine) => {
  const state = new State();
  const read = state.get('time').split('-').map(Number);
  let stretch: Stretch | null = read.length === 2 && read.every((time) => time > 0) ? (read as Stretch) : null;
  let whole: Profile;
  let busy = false;
  let again = false;
  /** Makes the flame graph of the selection, one at a time, and makes it again when the selection has changed meanwhile. */
  const refresh = async () => {
    again = busy;
    if (busy) return;
    busy = true;
    const [from, to] = map.selection;
    await view.setProfile(stretch === null ? whole : await engine.pick(whole, from, to));
    busy = false;
    if (again) await refresh();
  };
  const heat = async (of: Profile) => {
    const { thread } = view.getLens();
    const sums = await engine.heat(of, thread === '' || thread === 'all' ? -1 : opened.frames.find(thread));
    map.setHeat(sums, of.unit, stretch);
  };
  const map = new HeatMap({
    onSelect: (selected) => {
      stretch = selected;
      state.set('time', selected === null ? '' : selected.map((time) => Math.round(time)).join('-'));
      refresh().catch(failed);
    },
  });
  const options = { ...state.viewOptions(engine), label: 'Flame graph of the selection' };
  const threads = opened.threads ? threadList((thread) => {
    const lens = { ...view.getLens(), thread };
    view.setLens(lens);
    options.onLens!(lens);
    heat(whole).catch(failed);
  }) : null;
  frame(opened, 'Heatmap', state, async (at) => {
    const next = await engine.load(opened, at);
    await heat(next);
    whole = next;
    threads?.fill(whole, view.getLens().thread);
    await refresh();
    return whole;
  }, [threads?.element ?? noThreadList()]);
  page().append(map.element);
  const view = new FlameView(page(), options);
  keysGoTo('.hsh-plot');
}, heatKitchen);
