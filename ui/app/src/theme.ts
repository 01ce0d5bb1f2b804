// SPDX-License-Identifier: Apache-2.0
// Light or dark: the system's choice until the user makes one, which is kept in this browser.
import { currentScheme, type Scheme } from '@hotstack/flamegraph';

const KEY = 'hotstack.theme';

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function applyStoredTheme(): void {
  const theme = stored();
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
}

export function toggleTheme(): Scheme {
  const next = currentScheme() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A browser that keeps nothing: the choice holds for this page.
  }
  return next;
}
