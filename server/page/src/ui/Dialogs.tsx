// What is asked for in a window of its own: a new universe, a name, a body, whether to delete, a token; and the help.

import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import * as api from '../api';
import * as app from '../app';
import { BODY_TYPES } from '../members';
import { dialog } from '../prefs';
import { unitOf } from '../units';
import { Create } from './Create';

export function Dialogs() {
  const now = dialog.value;
  if (app.asking.value) return <Token why={app.asking.value} />;
  switch (now?.kind) {
    case 'create': return <Window title="New universe"><Create /></Window>;
    case 'rename': return <Window title="Rename"><Rename id={now.id!} name={now.name!} /></Window>;
    case 'delete': return <Window title={`Delete ${now.name}?`}><Delete id={now.id!} name={now.name!} /></Window>;
    case 'body': return <Window title="Add a body"><AddBody parent={now.parent ?? null} /></Window>;
    case 'help': return <Window title="Keys and gestures"><Help /></Window>;
    default: return null;
  }
}

export const shut = () => { dialog.value = null; };

function Window({ title, children, fixed }: { title: string; children: ComponentChildren; fixed?: boolean }) {
  const own = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = own.current!;
    const before = document.activeElement as HTMLElement | null;
    element.showModal();
    element.querySelector<HTMLElement>('[autofocus], input, select, textarea, button.primary')?.focus();
    return () => {
      // The browser closes a window before it reports that: what has the focus since then keeps it.
      const now = document.activeElement;
      if (now === document.body || element.contains(now)) before?.focus?.();
    };
  }, []);
  return (
    <dialog ref={own} aria-labelledby="window-title" onCancel={(event) => { event.preventDefault(); if (!fixed) shut(); }} onClose={() => { if (!fixed) shut(); }}
      onClick={(event) => { if (event.target === own.current && !fixed) shut(); }}>
      <div class="window">
        <header><h2 id="window-title">{title}</h2>{!fixed && <button type="button" class="icon-button" aria-label="Close" onClick={shut}>×</button>}</header>
        {children}
      </div>
    </dialog>
  );
}

function Rename({ id, name }: { id: string; name: string }) {
  const value = useSignal(name);
  return (
    <form onSubmit={async (event) => {
      event.preventDefault();
      if (!await app.attempt(() => api.rename(id, value.value.trim()))) return;
      shut();
      app.say(`Renamed to ${value.value.trim()}.`);
      void app.refreshList();
    }}>
      <label class="line">Name<input type="text" required value={value.value} onInput={(event) => { value.value = event.currentTarget.value; }} /></label>
      <div class="foot"><button type="button" onClick={shut}>Cancel</button><button class="primary" disabled={!value.value.trim()}>Rename</button></div>
    </form>
  );
}

function Delete({ id, name }: { id: string; name: string }) {
  return (
    <form onSubmit={async (event) => {
      event.preventDefault();
      const done = await app.attempt(() => api.remove(id));
      shut();
      if (!done) return;
      app.forget(id);
      app.say(`${name} is deleted.`);
      if (app.open.value?.id === id) app.close(); else void app.refreshList();
    }}>
      <p>{name} and its whole history will be gone, for everybody. This cannot be undone.</p>
      <div class="foot"><button type="button" autofocus onClick={shut}>Keep it</button><button class="danger solid">Delete</button></div>
    </form>
  );
}

function AddBody({ parent }: { parent: string | null }) {
  const world = app.world.value;
  const host = parent ? world?.byId.get(parent) : undefined;
  const of = (depth: number) => (depth === 0 ? 'star' : depth === 1 ? 'planet' : 'moon');
  const kind = useSignal(of(host ? host.depth + 1 : 0));
  const name = useSignal('');
  const far = host ? host.children.reduce((most, child) => Math.max(most, world!.bodies[child]!.orbit.a), 0) : 0;
  const distance = useSignal(host ? String(Number(((far || (host.star.radius || 1) * 4) * 1.5).toPrecision(3))) : '0');
  const wrong = useSignal<string | null>(null);
  return (
    <form onSubmit={async (event) => {
      event.preventDefault();
      const d = Number(distance.value);
      if (!Number.isFinite(d) || d < 0) { wrong.value = 'The distance must be a number of 0 or more.'; return; }
      const base = name.value.trim().toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'body';
      let id = base;
      for (let n = 2; world && world.byId.has(id); n += 1) id = `${base}-${n}`;
      const near = host?.children.map((child) => world!.bodies[child]!.orbit).find((orbit) => orbit.a > 0 && orbit.speed);
      const speed = !host || d === 0 ? 0 : near ? near.speed * (near.a / d) ** 1.5 : 20 / Math.sqrt(d);
      const size = ({ star: 2, blackHole: 2, planet: 0.5, moon: 0.15 } as Record<string, number>)[kind.value] ?? 0.1;
      const like = host?.children.map((child) => world!.bodies[child]!).find((body) => body.kind === kind.value);
      const colors: Record<string, string> = { star: '#ffd27a', planet: '#6fa8dc', moon: '#b8bcc6', comet: '#cfe8ff', asteroid: '#a89f91', blackHole: '#222222', lagrangePoint: '#7fe0a0' };
      const payload = {
        name: name.value.trim(), bodyType: kind.value, color: colors[kind.value] ?? '#b8bcc6', parentId: parent,
        mass: like?.star.mass ?? size ** 3, radius: like?.star.radius ?? size, orbitalDistance: d, semiMajorAxis: d,
        orbitalSpeed: speed, orbitalPhase: 0, eccentricity: 0,
      };
      const open = app.open.value!;
      try {
        const { revision } = await api.send(open.id, { type: 'addStar', id, payload });
        shut();
        app.sayDone(`${payload.name} is added.`, open.id, revision);
        selectSoon(id);
      } catch (error) {
        wrong.value = error instanceof Error ? error.message : String(error);
      }
    }}>
      <p class="note">{host ? `It will orbit ${host.star.name}.` : 'It will orbit nothing: the beginning of a system.'}</p>
      <label class="line">Name<input type="text" required value={name.value} onInput={(event) => { name.value = event.currentTarget.value; }} /></label>
      <label class="line">Kind<select value={kind.value} onChange={(event) => { kind.value = event.currentTarget.value; }}>{BODY_TYPES.map((it) => <option key={it} value={it}>{it}</option>)}</select></label>
      {host && <label class="line">{`Distance in ${unitOf(world!.state, 'length')}`}<input type="text" inputMode="decimal" value={distance.value} onInput={(event) => { distance.value = event.currentTarget.value; }} /></label>}
      {wrong.value && <p class="wrong" role="alert">{wrong.value}</p>}
      <div class="foot"><button type="button" onClick={shut}>Cancel</button><button class="primary" disabled={!name.value.trim()}>Add</button></div>
    </form>
  );
}

/** Selects a body once the feed has brought it. */
function selectSoon(id: string): void {
  const end = app.world.subscribe((world) => {
    if (!world?.byId.has(id)) return;
    queueMicrotask(() => { end(); app.select({ family: 'stars', id }); });
  });
  setTimeout(end, 5000);
}

function Token({ why }: { why: string }) {
  const value = useSignal('');
  return (
    <Window title="Token" fixed>
      <form onSubmit={(event) => { event.preventDefault(); app.asking.value = null; void app.useToken(value.value); }}>
        <p>{why} Enter a token that its operator gave you.</p>
        <label class="line">Token<input type="password" required autocomplete="off" spellcheck={false} value={value.value} onInput={(event) => { value.value = event.currentTarget.value; }} /></label>
        <p class="note">It is kept in this tab until you close it, and sent to this server alone.</p>
        <div class="foot"><button class="primary" disabled={!value.value.trim()}>Continue</button></div>
      </form>
    </Window>
  );
}

const KEYS: [string, string][] = [
  ['Space', 'play or pause'], [', and .', 'a step back, a step on'], ['[ and ]', 'slower, faster'], ['N', 'now'], ['B', "the universe's own time"],
  ['/', 'search'], ['Arrows', 'turn the picture; with Shift, move it'], ['+ and −', 'nearer, further'], ['0', 'show everything'],
  ['G', 'go to what is selected'], ['F', 'follow it'], ['V', 'full screen'], ['K, I', 'copy a link, a picture'], ['P', 'select what it orbits'], ['L, O, C', 'names, orbits, colours of groups'], ['S', 'compact scale or true distances'],
  ['T', 'light, dark, or as the system'], ['Ctrl+Z', 'undo the last command'], ['U', 'back to the universes'], ['Esc', 'select nothing, close'], ['?', 'this help'],
];

function Help() {
  return (
    <>
      <dl class="keys">{KEYS.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <p class="note">In the picture: drag turns, with Shift or two fingers it moves, the wheel or a pinch zooms, a click selects, a double click goes there. In the list: arrows move and open, Enter goes there.</p>
    </>
  );
}
