// The universes: to open, to make, to rename, to delete.

import { useEffect, useRef } from 'preact/hooks';
import { type Summary, picture } from '../api';
import * as app from '../app';
import { dialog, isDark } from '../prefs';
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
        <Picture it={it} />
        <strong>{it.name}</strong>
        <span class="note">{it.revision ? `Revision ${it.revision} · changed` : 'Made'} {changed.toLocaleDateString([], { day: 'numeric', month: 'short', year: 'numeric' })}, {changed.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}</span>
        <code>{it.id}</code>
      </button>
      <div class="card-tools">
        <IconButton name="edit" label={`Rename ${it.name}`} disabled={app.readOnly.value} onClick={() => { dialog.value = { kind: 'rename', id: it.id, name: it.name }; }} />
        <IconButton name="trash" label={`Delete ${it.name}`} disabled={app.readOnly.value && !!why} onClick={() => { dialog.value = { kind: 'delete', id: it.id, name: it.name }; }} />
      </div>
    </li>
  );
}

/** The universe as the server draws it, once it is in view. Read with the visitor's token, which an image could not send. */
function Picture({ it }: { it: Summary }) {
  const own = useRef<HTMLCanvasElement>(null);
  const dark = isDark();
  useEffect(() => {
    const canvas = own.current!;
    let gone = false;
    const observer = new IntersectionObserver(async ([seen]) => {
      if (!seen?.isIntersecting) return;
      observer.disconnect();
      // A picture that cannot be had leaves the card without one.
      const drawn = await picture(it.id, WIDE, HIGH + 2 * EDGE, dark).then((blob) => createImageBitmap(blob)).catch(() => null);
      if (gone || !drawn) return;
      // Without its title and its foot, which the card says in letters that can be read.
      canvas.getContext('2d')!.drawImage(drawn, 0, -EDGE);
      canvas.dataset.drawn = String(it.revision);
    });
    observer.observe(canvas);
    return () => { gone = true; observer.disconnect(); };
  }, [it.id, it.revision, dark]);
  return <canvas class="card-picture" ref={own} width={WIDE} height={HIGH} aria-hidden="true" />;
}

const WIDE = 600, HIGH = 320, EDGE = 52;
