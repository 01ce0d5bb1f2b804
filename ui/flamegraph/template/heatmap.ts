// The self-contained heatmap: one profile type at a time, all or one of its threads, and the flame graph of what is selected.
import { heatKitchen } from '../src/heat.ts';
import { HeatMap, type Stretch } from '../src/heatmap.ts';
import { NO_TRANSFORM } from '../src/transform.ts';
import { FlameView } from '../src/view.ts';
import { firstShown, frame, page, problem, start, State, threadList } from './page.ts';
import './heatmap.css';

start((opened, engine) => {
  const state = new State();
  const read = state.get('time').split('-').map(Number);
  let stretch: Stretch | null = read.length === 2 && read.every((time) => time > 0) ? (read as Stretch) : null;
  let shown = 0;
  let busy = false;
  let again = false;
  /** The flame graph of what is selected: one at a time is made, then what is selected by then. */
  const refresh = async () => {
    again = busy;
    if (busy) return;
    busy = true;
    const [from, to] = map.selection;
    const profile = stretch === null ? await engine.load(opened, shown, NO_TRANSFORM) : await engine.pick(opened, shown, from, to);
    await view.setProfile(profile);
    busy = false;
    if (again) await refresh();
  };
  const failed = (error: Error) => problem('This file cannot be shown', error.message);
  const heat = async () => {
    const { thread } = view.getLens();
    const sums = await engine.heat(shown, thread === '' || thread === 'all' ? -1 : opened.frames.find(thread));
    map.setHeat(sums, opened.heads[shown]!.unit, stretch);
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
    heat().catch(failed);
  }) : null;
  const chosen = frame(opened, 'Heatmap', state, async (at) => {
    shown = at;
    const whole = await engine.load(opened, at, NO_TRANSFORM);
    threads?.fill(whole, view.getLens().thread);
    await heat();
    await refresh();
    return whole;
  }, threads === null ? [] : [threads.element]);
  page().append(map.element);
  const view = new FlameView(page(), options);
  chosen.select(firstShown(opened, state));
}, heatKitchen);
