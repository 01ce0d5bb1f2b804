// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from 'react';
import { FlameView, type FlameViewOptions, type Mode, type Profile } from '@hotstack/flamegraph';

interface FlameGraphProps {
  profile: Profile;
  label: string;
  testId: string;
  maxHeight: number;
  query: string;
  mode: Mode;
  onQuery: (query: string) => void;
  onMode: (mode: Mode) => void;
}

/** A change of the search goes into the address when the typing pauses. */
const TYPING_PAUSE = 200;

/** Wraps the renderer for React: makes it once, then passes it the changes. */
export function FlameGraph({ profile, label, testId, maxHeight, query, mode, onQuery, onMode }: FlameGraphProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<FlameView | null>(null);
  const listeners = useRef({ onQuery, onMode });
  useEffect(() => {
    listeners.current = { onQuery, onMode };
  });
  useEffect(() => {
    let pause: ReturnType<typeof setTimeout> | undefined;
    const options: FlameViewOptions = {
      label,
      testId,
      maxHeight,
      onQuery: (next) => {
        clearTimeout(pause);
        pause = setTimeout(() => listeners.current.onQuery(next), TYPING_PAUSE);
      },
      onMode: (next) => listeners.current.onMode(next),
    };
    const made = new FlameView(host.current!, options);
    view.current = made;
    return () => {
      clearTimeout(pause);
      view.current = null;
      made.destroy();
    };
  }, [label, testId, maxHeight]);
  useEffect(() => view.current?.setMode(mode), [mode, label, testId, maxHeight]);
  useEffect(() => void view.current?.setProfile(profile), [profile, label, testId, maxHeight]);
  useEffect(() => view.current?.setQuery(query), [query, label, testId, maxHeight]);
  return <div ref={host} />;
}
