// The universes: to open, to make, to rename, to delete.

import { useEffect } from 'preact/hooks';
import type { Summary } from '../api';
import * as app from '../app';
import { dialog } from '../prefs';
import { Icon, IconButton } from './Icon';

/** How often the list is looked at again while it is shown, in milliseconds. */
const AGAIN = 5000;

export function Home() {
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden && !app.asking.value) void app.refreshList(); }, AGAIN);
    return () => clearInterval(timer);
  }, []);
  const state = app.listing.value, list = app.universes.value;
  const why = app.mayCreate.value ? null : app.readOnly.value
    ? 'This server was started with --read-only: nothing can be made or changed.'
    : 'Your token may not make universes. That needs the scope write.';
  return (
    <main class="home" id="main" tabIndex={-1}>
      <div class="home-head">
        <div>
          <h1>Universes</h1>
          <p class="note">Each is one state that people, programs and language models change together, by commands.</p>
        </div>
        <button type="button" class="primary" disabled={!app.mayCreate.value} title={why ?? undefined} onClick={() => { dialog.value = { kind: 'create' }; }}><Icon name="plus" />New universe</button>
      </div>
      {app.trouble.value && state === 'ready' && <p class="banner bad" role="status">{app.trouble.value}. Trying again.</p>}
      {why && state === 'ready' && <p class="banner"><Icon name="lock" />{why}</p>}
      {state === 'loading' && !app.asking.value && <ul class="cards" aria-busy="true" aria-label="Loading">{[1, 2, 3].map((n) => <li key={n} class="card ghost" />)}</ul>}
      {state === 'failed' && (
        <div class="empty-state">
          <p>The universes could not be read: {app.trouble.value}.</p>
          <button type="button" onClick={() => void app.refreshList()}>Try again</button>
        </div>
      )}
      {state === 'ready' && list.length === 0 && (
        <div class="empty-state">
          <Icon name="orbit" />
          <p>No universe is here yet.</p>
          <p class="note">{why ?? 'Begin with the solar system, with one made from a seed, or with an empty one.'}</p>
        </div>
      )}
      {state === 'ready' && list.length > 0 && (
        <ul class="cards" aria-label="Universes">{list.map((it) => <Card key={it.id} it={it} why={why} />)}</ul>
      )}
    </main>
  );
}

function Card({ it, why }: { it: Summary; why: string | null }) {
  const changed = new Date(it.updatedAt);
  return (
    <li class="card">
      <button type="button" class="card-open" onClick={() => void app.openUniverse(it.id)}>
        <strong>{it.name}</strong>
        <span class="note">Revision {it.revision} · changed {changed.toLocaleDateString([], { day: 'numeric', month: 'short', year: 'numeric' })}, {changed.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}</span>
        <code>{it.id}</code>
      </button>
      <div class="card-tools">
        <IconButton name="edit" label={`Rename ${it.name}`} disabled={app.readOnly.value} onClick={() => { dialog.value = { kind: 'rename', id: it.id, name: it.name }; }} />
        <IconButton name="trash" label={`Delete ${it.name}`} disabled={app.readOnly.value && !!why} onClick={() => { dialog.value = { kind: 'delete', id: it.id, name: it.name }; }} />
      </div>
    </li>
  );
}
