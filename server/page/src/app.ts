// What the page knows and does: the universes, the one that is open, what is selected, and what was said.

import { batch, computed, signal } from '@preact/signals';
import * as api from './api';
import * as clock from './clock';
import { type FeedEvent, type Link, follow } from './feed';
import { fold } from './fold';
import { type Ref, type State, entity, worldOf } from './model';

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

/** The id in the address of the page, or nothing. */
export function addressed(): string {
  try { return decodeURIComponent(location.hash.slice(1)); } catch { return ''; }
}

export async function start(): Promise<void> {
  await attempt(async () => { readOnly.value = await api.isReadOnly(); });
  await refreshList();
  const named = addressed();
  if (!asking.value && named) await openUniverse(named);
}

/** Uses a token and goes on. */
export async function useToken(token: string): Promise<void> {
  api.setToken(token.trim() || null);
  listing.value = 'loading';
  await start();
}

export async function openUniverse(id: string): Promise<void> {
  stop();
  const own = (asked += 1);
  opening.value = id;
  const got = await attempt(() => api.getUniverse(id));
  if (own !== asked) return;
  opening.value = null;
  if (!got) { if (!asking.value) close(); return; }
  const { universe, write, remove } = got;
  batch(() => {
    open.value = { id, name: universe.name, revision: universe.revision, write, remove };
    selected.value = null;
    following.value = false;
    log.value = [];
    take(universe);
    clock.attach(universe.state.time);
    if (world.value) clock.speed.value = clock.fittingSpeed(world.value);
  });
  seen = universe.revision;
  if (location.hash.slice(1) !== encodeURIComponent(id)) history.pushState(null, '', `#${encodeURIComponent(id)}`);
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
  if (location.hash) history.pushState(null, '', location.pathname);
  void refreshList();
}

function take(universe: api.Universe): void {
  structure.value = universe.state;
  setTime(universe.state.time);
  if (open.value) open.value = { ...open.value, name: universe.name, revision: universe.revision };
}

function setTime(time: number): void {
  universeTime.value = time;
  if (clock.attached.value) clock.shown.value = time;
}

/** An event of the feed: into the log, and into the state if it follows from it. */
function heard({ event, revision, data }: FeedEvent): void {
  if (event === 'deleted') {
    say(`${open.value?.name} was deleted.`, true);
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
  selected.value = ref;
  if (!ref) following.value = false;
  const it = world.value && entity(world.value.state, ref);
  if (it) spoken.value = `Selected ${String(it.name ?? ref!.id)}`;
}

/** The state as it is now, for export. */
export const whole = () => (structure.value ? { ...structure.value, time: universeTime.value } : null);
