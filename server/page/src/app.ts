// What the page knows and does: the universes, the one that is open, what is selected, and what was said.

import { batch, computed, signal } from '@preact/signals';
import * as api from './api';
import * as clock from './clock';
import { readTime, stampOf } from './dates';
import { type FeedEvent, type Link, follow } from './feed';
import { fold } from './fold';
import { type Ref, type State, entity, same, worldOf } from './model';
import { still } from './prefs';

export interface Open { id: string; name: string; revision: number; write: boolean; remove: boolean }
export interface Toast { id: number; text: string; bad: boolean; action?: { label: string; run(): void } }

export const universes = signal<api.Summary[]>([]);
export const listing = signal<'loading' | 'ready' | 'failed'>('loading');
export const mayCreate = signal(false);
export const readOnly = signal(false);
/** Why a token is asked for, or null. */
export const asking = signal<string | null>(null);
export const trouble = signal<string | null>(null);

export const open = signal<Open | null>(null);
export const opening = signal<string | null>(null);
const structure = signal<State | null>(null);
export const world = computed(() => (structure.value ? worldOf(structure.value) : null));
export const universeTime = signal(0);
export const link = signal<Link>('ended');
export const log = signal<api.Entry[]>([]);
export const selected = signal<Ref | null>(null);
export const following = signal(false);
export const toasts = signal<Toast[]>([]);
/** What a screen reader is told. */
export const spoken = signal('');

/** The most entries of the log that are kept. */
const MAX_LOG = 500;
let stop = () => {};
/** Counts what was asked to be open: of several, the last is meant. */
let asked = 0;
let reading = false;
let seen = 0;

/** Why nothing can be changed here, or null if it can. */
export const whyNot = computed(() => {
  if (!open.value || open.value.write) return null;
  return readOnly.value
    ? 'This server was started with --read-only: nothing can be changed.'
    : 'Your token may read this universe and not change it. It needs the scope write.';
});

let toastNumber = 0;
export function say(text: string, bad = false, action?: Toast['action']): void {
  const toast = { id: (toastNumber += 1), text, bad, action };
  toasts.value = [...toasts.value.slice(-2), toast];
  if (!action) spoken.value = text;
  setTimeout(() => { toasts.value = toasts.value.filter((it) => it.id !== toast.id); }, bad ? 9000 : 5000);
}

/** Does something with the server; what it refuses is shown. `null` then. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    failed(error);
    return null;
  }
}

function failed(error: unknown): void {
  if (error instanceof api.Refused && error.status === 401) {
    asking.value = api.token() ? 'The server does not take this token.' : 'This server asks who is calling.';
    return;
  }
  const text = error instanceof Error ? error.message : String(error);
  say(text.charAt(0).toUpperCase() + text.slice(1), true);
}

export async function refreshList(): Promise<void> {
  try {
    const { list, create } = await api.listUniverses();
    batch(() => {
      if (JSON.stringify(list) !== JSON.stringify(universes.value)) universes.value = list;
      mayCreate.value = create;
      listing.value = 'ready';
      trouble.value = null;
      asking.value = null;
    });
  } catch (error) {
    if (error instanceof api.Refused && error.status === 401) { failed(error); return; }
    if (listing.value !== 'ready') listing.value = 'failed';
    trouble.value = error instanceof Error ? error.message : String(error);
  }
}

/** Takes a universe that is gone from the list, before the list is read again. */
export function forget(id: string | undefined): void {
  universes.value = universes.value.filter((it) => it.id !== id);
}

/** What an address asks for: a universe, and what of it is seen. */
export interface Look { id: string; body: string; at: string; view: string }

/** The address of the list of universes. No id is written like this. */
const LIST = '#/';
/** The universe of a server that was started with `--demo`. */
const DEMO = 'sol';

/** What the address of the page asks for; the id is empty where it names no universe. */
export function addressed(): Look {
  const [path, query] = location.hash.slice(1).split('?', 2);
  const given = new URLSearchParams(query), of = (name: string) => given.get(name) ?? '';
  let id = '';
  try { id = path === '/' ? '' : decodeURIComponent(path!); } catch { /* no id is written like this */ }
  return { id, body: of('body'), at: of('at'), view: of('view') };
}

/** Where the eye is, as a link has it: the picture tells it, and goes where it should be. */
export const eye = { tell: () => '', wanted: signal('') };

/** What is seen as a part of an address; with its time if that was chosen, or `always`. */
export function here(always = false): string {
  const { id } = open.value!, given = new URLSearchParams();
  if (selected.value?.family === 'stars') given.set('body', selected.value.id);
  if (always || (!clock.attached.value && !clock.unasked)) given.set('at', stampOf(clock.shown.value, clock.epoch.value));
  const view = eye.tell();
  if (view) given.set('view', view);
  // Colons and commas are no harm in this place, and read better.
  const query = String(given).replaceAll('%3A', ':').replaceAll('%2C', ',');
  return `#${encodeURIComponent(id)}${query && `?${query}`}`;
}

/** Once nothing moves, the address is that of what is seen. */
export function settle(): void {
  if (open.value && !clock.playing.value && location.hash !== here()) history.replaceState(null, '', here());
}

/** Shows what an address asks for, where its universe is open. */
export function arrive({ body, at, view }: Look): void {
  const now = world.value;
  if (!now) return;
  const time = at ? readTime(at, clock.epoch.value) : null;
  if (typeof time === 'number') { clock.play(false); clock.jump(time); } else if (time) say(time, true);
  if (body && !now.byId.has(body)) say(`This universe has no body “${body}”.`, true);
  select(now.byId.has(body) ? { family: 'stars', id: body } : null);
  eye.wanted.value = view;
}

export async function start(): Promise<void> {
  await attempt(async () => { readOnly.value = await api.isReadOnly(); });
  await refreshList();
  if (asking.value) return;
  const { id } = addressed(), list = universes.value;
  // Without any address, what people came for: the demo, or the one universe that is here.
  const door = location.hash ? undefined : list.find((it) => it.id === DEMO) ?? (list.length === 1 ? list[0] : undefined);
  if (id) await openUniverse(id);
  else if (door) await openUniverse(door.id, true);
}

/** Uses a token and goes on. */
export async function useToken(token: string): Promise<void> {
  api.setToken(token.trim() || null);
  listing.value = 'loading';
  await start();
}

/** Opens a universe, and shows what the address says of it; `instead` of the address that is there. */
export async function openUniverse(id: string, instead = false): Promise<void> {
  stop();
  const own = (asked += 1);
  opening.value = id;
  const got = await attempt(() => api.getUniverse(id));
  if (own !== asked) return;
  opening.value = null;
  if (!got) { if (!asking.value) close(); return; }
  const { universe, write, remove } = got;
  batch(() => {
    clock.attach(0);
    // What can be undone in another universe is not meant here.
    if (open.value?.id !== id) toasts.value = toasts.value.filter((it) => !it.action);
    open.value = { id, name: universe.name, revision: universe.revision, write, remove };
    selected.value = null;
    following.value = false;
    log.value = [];
    take(universe);
    clock.begin(universe, world.value, still.value);
  });
  seen = universe.revision;
  const look = addressed();
  if (look.id === id) arrive(look);
  else history[instead ? 'replaceState' : 'pushState'](null, '', `#${encodeURIComponent(id)}`);
  document.title = `${universe.name} · Universe`;
  stop = follow(id, universe.revision, {
    event: (event) => { if (open.value?.id === id) heard(event); },
    link: (state) => { if (open.value?.id === id) link.value = state; },
    refused: failed,
  });
  await olderLog();
}

export function close(): void {
  stop();
  asked += 1;
  batch(() => {
    open.value = null;
    opening.value = null;
    structure.value = null;
    selected.value = null;
    link.value = 'ended';
    clock.playing.value = false;
  });
  document.title = 'Universe';
  if (location.hash !== LIST) history.pushState(null, '', LIST);
  void refreshList();
}

function take(universe: api.Universe): void {
  structure.value = universe.state;
  setTime(universe.state.time);
  if (open.value) open.value = { ...open.value, name: universe.name, revision: universe.revision };
}

function setTime(time: number): void {
  const moved = time !== universeTime.value;
  universeTime.value = time;
  if (clock.attached.value) clock.shown.value = time; else if (moved && clock.unasked) clock.attach(time);
}

/** An event of the feed: into the log, and into the state if it follows from it. */
function heard({ event, revision, data }: FeedEvent): void {
  if (event === 'deleted') {
    say(`${open.value?.name} was deleted.`, true);
    forget(open.value?.id);
    close();
    return;
  }
  const now = open.value!;
  seen = Math.max(seen, revision);
  if (event === 'reset') open.value = { ...now, revision: -1 };
  if (event === 'command' || event === 'replaced') {
    const command = event === 'command' ? data as api.Command : undefined;
    addLog([{ revision, at: new Date().toISOString(), command, name: data.name as string | undefined }]);
    spoken.value = `Revision ${revision}: ${command?.type ?? 'replaced'}`;
    if (revision <= now.revision) return;
    const state = structure.value && command && revision === now.revision + 1
      ? fold({ ...structure.value, time: universeTime.value }, command) : null;
    if (state && command) {
      batch(() => {
        if (command.type !== 'tick') structure.value = state;
        setTime(state.time);
        open.value = { ...now, revision };
      });
      return;
    }
  }
  void reread();
}

/** Reads the state again, once for all that was heard meanwhile. */
async function reread(): Promise<void> {
  if (reading) return;
  reading = true;
  try {
    while (open.value && open.value.revision < seen) {
      const { id } = open.value;
      const got = await attempt(() => api.getUniverse(id));
      // Another universe is open by now: it may have to be read itself.
      if (open.value?.id !== id) continue;
      if (!got) return;
      seen = Math.max(seen, got.universe.revision);
      batch(() => {
        take(got.universe);
        if (world.value && !entity(world.value.state, selected.value)) selected.value = null;
      });
    }
  } finally {
    reading = false;
  }
}

function addLog(entries: api.Entry[]): void {
  const known = new Map(log.value.map((entry) => [entry.revision, entry]));
  // What the history says of an entry is more than what the feed said.
  for (const entry of entries) known.set(entry.revision, { ...known.get(entry.revision), ...entry });
  log.value = [...known.values()].sort((a, b) => b.revision - a.revision).slice(0, MAX_LOG);
}

/** Whether there is more of the log than is shown. */
export const hasOlder = computed(() => (log.value.at(-1)?.revision ?? 1) > 1 && log.value.length < MAX_LOG);

export async function olderLog(): Promise<void> {
  const now = open.value;
  if (!now || now.revision === 0) return;
  const first = log.value.at(-1)?.revision ?? now.revision + 1;
  const entries = await attempt(() => api.history(now.id, Math.max(0, first - 101)));
  if (entries && open.value?.id === now.id) addLog(entries.filter((entry) => entry.revision < first));
}

/** Sends a command; the feed brings what it did. The warnings of the server, or null if it was refused. */
export async function command(body: api.Command, done?: string): Promise<api.Finding[] | null> {
  const now = open.value;
  if (!now?.write) return null;
  const sent = await attempt(() => api.send(now.id, body));
  if (sent && done) sayDone(done, now.id, sent.revision);
  return sent && sent.warnings;
}

/** Says what a command did, and offers to undo this alone: not what others did before it, and nothing once others went on. */
export function sayDone(text: string, id: string, made: number | null): void {
  say(text, false, made === null ? undefined : { label: 'Undo', run: () => void revert(id, made - 1, made) });
}

/** Goes back from the revision that is shown. */
export async function undoTo(revision: number): Promise<void> {
  const now = open.value;
  if (now?.write && revision >= 0 && revision < now.revision) await revert(now.id, revision, now.revision);
}

async function revert(id: string, revision: number, present: number): Promise<void> {
  const undone = await attempt(() => api.undo(id, revision, present));
  if (!undone) return;
  const made = undone.revision;
  say(`As it was at revision ${revision}.`, false, made === null ? undefined : { label: 'Redo', run: () => void revert(id, present, made) });
}

export function select(ref: Ref | null): void {
  if (!same(ref, selected.value)) following.value = false;
  selected.value = ref;
  const it = world.value && entity(world.value.state, ref);
  if (it) spoken.value = `Selected ${String(it.name ?? ref!.id)}`;
}

/** The state as it is now, for export. */
export const whole = () => (structure.value ? { ...structure.value, time: universeTime.value } : null);
