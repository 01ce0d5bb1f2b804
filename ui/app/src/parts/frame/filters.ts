// SPDX-License-Identifier: Apache-2.0
import { shorten, visibleText } from '@hotstack/flamegraph';
import type { Target } from '../../api/status.ts';

/** A value of a filter and the words for it. */
export type Option = [value: string, name: string];

const LONGEST = 60;

const wordFor = (name: string) => (name === '' ? '(no name)' : shorten(visibleText(name), LONGEST));

function withChosen(options: Option[], chosen: string | null): Option[] {
  if (chosen === null || options.some(([value]) => value === chosen)) return options;
  return [...options, [chosen, wordFor(chosen)]];
}

function sortedOptions(names: string[], chosen: string | null): Option[] {
  return withChosen(
    [...names].sort().map((name) => [name, wordFor(name)]),
    chosen,
  );
}

/** Returns every pod (container, version) with a JVM, and the chosen one even when it has none. */
export function nameOptions(targets: Target[], key: 'pod' | 'container' | 'version', chosen: string | null): Option[] {
  const names = [...new Set(targets.map((target) => target[key]))].filter((name) => name !== '');
  return sortedOptions(names, chosen);
}

/** Returns every pool that was sampled, and the chosen one even when it was not. */
export function poolOptions(pools: string[], chosen: string | null): Option[] {
  return sortedOptions(pools, chosen);
}

/** Returns every JVM of the chosen pod, by its process and version. */
export function jvmOptions(targets: Target[], pod: string | null, chosen: string | null): Option[] {
  const found = targets.filter((target) => target.jvm !== '' && (pod === null || target.pod === pod));
  const name = (target: Target) => [pod === null ? target.pod : '', target.container, `pid ${target.pid}`, target.jvm_version];
  return withChosen(
    found.map((target): Option => [
      target.jvm,
      shorten(
        visibleText(
          name(target)
            .filter((part) => part !== '')
            .join(' · '),
        ),
        LONGEST,
      ),
    ]),
    chosen,
  );
}
