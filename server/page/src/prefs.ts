// How somebody likes to look at things; kept by the browser for the next time.

import { effect, signal } from '@preact/signals';
import type { Scale } from './layout';

function kept<T extends string>(name: string, initial: T, known: readonly T[]) {
  let value = initial;
  try {
    const found = localStorage.getItem(`universe-${name}`) as T | null;
    if (found && known.includes(found)) value = found;
  } catch { /* A browser that keeps nothing begins with the defaults. */ }
  const it = signal(value);
  effect(() => { try { localStorage.setItem(`universe-${name}`, it.value); } catch { /* as above */ } });
  return it;
}

const SWITCH = ['on', 'off'] as const;
type Switch = (typeof SWITCH)[number];

export const theme = kept<'system' | 'light' | 'dark'>('theme', 'system', ['system', 'light', 'dark']);
export const scale = kept<Scale>('scale', 'compact', ['compact', 'true']);
export const labels = kept<Switch>('labels', 'on', SWITCH);
export const orbits = kept<Switch>('orbits', 'on', SWITCH);
export const byGroup = kept<Switch>('groups', 'off', SWITCH);
export const flip = (it: { value: Switch }) => { it.value = it.value === 'on' ? 'off' : 'on'; };

const media = (query: string) => {
  const list = matchMedia(query), it = signal(list.matches);
  list.addEventListener('change', () => { it.value = list.matches; });
  return it;
};
const systemDark = media('(prefers-color-scheme: dark)');
/** Whether things should not move by themselves. */
export const still = media('(prefers-reduced-motion: reduce)');
export const narrow = media('(max-width: 820px)');

export const isDark = () => (theme.value === 'system' ? systemDark.value : theme.value === 'dark');
effect(() => { document.documentElement.dataset.theme = isDark() ? 'dark' : 'light'; });

/** What the narrow layout shows below the picture. */
export const sheet = signal<'bodies' | 'inspector' | 'log' | 'none'>('none');
export const side = signal<'inspector' | 'log'>('inspector');
/** The dialog that is open. */
export const dialog = signal<null | { kind: 'create' | 'help' | 'rename' | 'delete' | 'body'; id?: string; name?: string; parent?: string | null }>(null);
