// The page as a whole: the bar above, the list, the picture, the inspector and the log; the keys of everything.

import { useEffect } from 'preact/hooks';
import * as app from '../app';
import * as clock from '../clock';
import { entity } from '../model';
import * as prefs from '../prefs';
import { Bodies } from './Bodies';
import { Dialogs } from './Dialogs';
import { Home } from './Home';
import { Icon, IconButton } from './Icon';
import { Inspector } from './Inspector';
import { LinkState, Log } from './Log';
import { copyLink, copyPicture, fullScreen, saveAs } from './Share';
import { StageView } from './StageView';
import { focus, stage } from './eye';
import { TimeBar, goNow, step } from './TimeBar';

const THEMES = { system: ['light', 'auto', 'as the system'], light: ['dark', 'sun', 'light'], dark: ['system', 'moon', 'dark'] } as const;
const nextTheme = () => { prefs.theme.value = THEMES[prefs.theme.value][0]; };

export function App() {
  useEffect(() => {
    const keys = (event: KeyboardEvent) => shortcut(event);
    const back = () => {
      const look = app.addressed();
      if (look.id && look.id !== app.open.value?.id) void app.openUniverse(look.id);
      else if (look.id) app.arrive(look);
      else if (app.open.value) app.close();
    };
    addEventListener('keydown', keys);
    addEventListener('popstate', back);
    return () => { removeEventListener('keydown', keys); removeEventListener('popstate', back); };
  }, []);
  const open = app.open.value;
  return (
    <>
      <nav aria-label="Skip"><a class="skip" href="#main" onClick={(event) => { event.preventDefault(); (document.getElementById('search') ?? document.getElementById('main'))?.focus(); }}>Skip to the content</a></nav>
      <Top />
      {open ? <Workspace /> : app.opening.value ? <main class="home" id="main"><p class="empty-state" role="status">Opening…</p></main> : <Home />}
      <Dialogs />
      <div class="toasts" role="region" aria-label="Messages">
        {app.toasts.value.map((toast) => (
          <div key={toast.id} class="toast" data-bad={toast.bad} role={toast.bad ? 'alert' : 'status'}>
            <span>{toast.text}</span>
            {toast.action && <button type="button" class="link" onClick={() => { toast.action!.run(); app.toasts.value = app.toasts.value.filter((it) => it !== toast); }}>{toast.action.label}</button>}
          </div>
        ))}
      </div>
      <div class="spoken" role="status" aria-live="polite">{app.spoken.value}</div>
    </>
  );
}

function Top() {
  const open = app.open.value, why = app.whyNot.value;
  const [, icon, label] = THEMES[prefs.theme.value];
  return (
    <header class="top">
      <button type="button" class="brand" onClick={() => app.close()} title="All universes (U)" aria-label="Universe: show all universes"><Icon name="orbit" /><span>Universe</span></button>
      {open && (
        <>
          <span class="slash" aria-hidden="true">/</span>
          <h1 class="title">{open.name}</h1>
          <IconButton name="edit" label={why ? `Rename: ${why}` : 'Rename'} disabled={!!why} onClick={() => { prefs.dialog.value = { kind: 'rename', id: open.id, name: open.name }; }} />
          <LinkState />
          {why && <span class="chip-lock" title={why}><Icon name="lock" />{app.readOnly.value ? 'Read-only' : 'May read'}</span>}
        </>
      )}
      <span class="stretch" />
      {open && <IconButton name="link" label="Copy a link to what is seen" keys="K" onClick={() => void copyLink()} />}
      {open && <IconButton name="picture" label="Copy as picture" keys="I" onClick={() => void copyPicture()} />}
      {open && <IconButton name="undo" label={why ? `Undo: ${why}` : 'Undo the last command'} keys="Control+Z" disabled={!!why || open.revision === 0} onClick={() => void app.undoTo(open.revision - 1)} />}
      {open && <IconButton name="down" label="Export as JSON" onClick={save} />}
      {open && <IconButton name="trash" label={open.remove ? 'Delete this universe' : 'Delete: this needs the scope admin, and a server that takes changes'} disabled={!open.remove} onClick={() => { prefs.dialog.value = { kind: 'delete', id: open.id, name: open.name }; }} />}
      <IconButton name={icon} label={`Colours: ${label}`} keys="T" onClick={nextTheme} />
      <IconButton name="help" label="Help" keys="?" onClick={() => { prefs.dialog.value = { kind: 'help' }; }} />
    </header>
  );
}

function Workspace() {
  const { narrow, sheet, side } = prefs;
  const tab = narrow.value ? sheet.value : side.value;
  const tabs = narrow.value ? (['bodies', 'inspector', 'log'] as const) : (['inspector', 'log'] as const);
  const pick = (it: (typeof tabs)[number]) => {
    if (narrow.value) sheet.value = sheet.value === it ? 'none' : it;
    else side.value = it as 'inspector' | 'log';
  };
  const names = { bodies: ['list', 'Bodies'], inspector: ['sliders', 'Inspector'], log: ['log', 'Log'] } as const;
  const bodies = <Bodies focus={focus} />;
  return (
    <main class="workspace" id="main" tabIndex={-1} data-sheet={narrow.value ? sheet.value : undefined}>
      {!narrow.value && <aside class="panel left" aria-label="Bodies">{bodies}</aside>}
      <div class="middle" id="middle"><StageView /><TimeBar /></div>
      <aside class="panel right" aria-label="Details">
        <div class="tabs" role="tablist" aria-label="Details">
          {tabs.map((it) => (
            <button key={it} type="button" role="tab" id={`tab-${it}`} aria-selected={tab === it} aria-controls={tab === it ? 'tab-panel' : undefined} onClick={() => pick(it)}>
              <Icon name={names[it][0]} />{names[it][1]}
            </button>
          ))}
        </div>
        {tab !== 'none' && (
          <div class="tab-panel" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`} tabIndex={-1}>
            {tab === 'bodies' ? bodies : tab === 'inspector' ? <Inspector focus={focus} /> : <Log />}
          </div>
        )}
      </aside>
    </main>
  );
}

/** Saves the state as it is now, with its name. */
function save(): void {
  const open = app.open.value, state = app.whole();
  if (!open || !state) return;
  const text = JSON.stringify({ name: open.name, revision: open.revision, state }, null, 1);
  saveAs(new Blob([text], { type: 'application/json' }), 'json');
}

function shortcut(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (prefs.dialog.value || app.asking.value) return;
  const typing = target.matches('input:not([type=range], [type=checkbox]), textarea, select');
  if (event.key === 'Escape' && !typing) {
    if (prefs.narrow.value && prefs.sheet.value !== 'none') prefs.sheet.value = 'none'; else app.select(null);
    return;
  }
  if (typing || event.altKey) return;
  if ((event.ctrlKey || event.metaKey)) {
    if (event.key.toLowerCase() === 'z' && app.open.value) { event.preventDefault(); void app.undoTo(app.open.value.revision - 1); }
    return;
  }
  const general: Record<string, () => void> = { '?': () => { prefs.dialog.value = { kind: 'help' }; }, t: nextTheme, u: () => app.close() };
  const at = clock.SPEEDS.findIndex((it) => it >= clock.speed.value);
  const speed = (by: number) => { clock.speed.value = clock.SPEEDS[Math.min(Math.max(at + by, 0), clock.SPEEDS.length - 1)]!; };
  const inside: Record<string, () => void> = {
    ' ': () => clock.play(!clock.playing.value), '.': () => step(1), ',': () => step(-1), ']': () => speed(1), '[': () => speed(-1),
    n: goNow, b: () => clock.attach(app.universeTime.value), k: () => void copyLink(), i: () => void copyPicture(), v: fullScreen, '0': () => { app.following.value = false; stage?.fit(); },
    '+': () => stage?.zoom(1 / 1.4), '=': () => stage?.zoom(1 / 1.4), '-': () => stage?.zoom(1.4),
    l: () => prefs.flip(prefs.labels), o: () => prefs.flip(prefs.orbits), c: () => prefs.flip(prefs.byGroup),
    s: () => { prefs.scale.value = prefs.scale.value === 'compact' ? 'true' : 'compact'; },
    g: () => { if (app.selected.value) focus(app.selected.value); }, f: () => { if (app.selected.value) app.following.value = !app.following.value; },
    p: () => {
      const ref = app.selected.value, world = app.world.value;
      const parent = ref && world && (entity(world.state, ref)?.parentId as string | undefined);
      if (parent) app.select({ family: 'stars', id: parent });
    },
    '/': () => {
      if (prefs.narrow.value) prefs.sheet.value = 'bodies';
      setTimeout(() => document.getElementById('search')?.focus());
    },
  };
  const work = general[event.key] ?? (app.open.value ? inside[event.key] ?? inside[event.key.toLowerCase()] : undefined);
  // A button that has the focus keeps its own keys.
  if (!work || (event.key === ' ' && target.matches('button, summary, input'))) return;
  event.preventDefault();
  work();
}
