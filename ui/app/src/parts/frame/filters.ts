// SPDX-License-Identifier: Apache-2.0
import { shorten, visibleText } from '@hotstack/flamegraph';
import type { Target } from '../../api/status.ts';

/** A value of a filter and the words for it. */
export type Option = [value: string, name: string];

const LONGEST = 60;

function withChosen(options: Option[], chosen: string | null): Option[] {
  if (chosen === null || options.some(([value]) => value === chosen)) return options;
  return [...options, [chosen, shorten(visibleText(chosen), LONGEST)]];
}

/** Returns every pod with a JVM, and the chosen one even when it has none. */
export function podOptions(targets: Target[], chosen: string | null): Option[] {
  const pods = [...new Set(targets.map(({ pod }) => pod))].filter((pod) => pod !== '').sort();
  return withChosen(
    pods.map((pod) => [pod, shorten(visibleText(pod), LONGEST)]),
    chosen,
  );
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
