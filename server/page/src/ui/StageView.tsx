// The picture and its pointer and keys. What it shows is in the list beside it, too.

import { effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import * as app from '../app';
import * as clock from '../clock';
import * as prefs from '../prefs';
import { Stage, type Theme } from '../stage';
import { focus, show, stage } from './eye';
import { IconButton } from './Icon';
import { fullScreen } from './Share';
import { TryIt, Ways } from './TryIt';

/** Whether systems are side by side because nothing says where they are. */
const spread = signal(false);

const THEMES: Record<'dark' | 'light', Theme> = {
  dark: { ground: [9, 11, 17], ink: [226, 230, 240], accent: [122, 162, 255] },
  light: { ground: [244, 245, 248], ink: [28, 32, 42], accent: [36, 87, 214] },
};

export function StageView() {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let last = 0, shown: string | null = null;
    const wanted = new URLSearchParams(location.search).get('draw');
    const made = new Stage(holder.current!, wanted, (now) => {
      const seconds = last ? Math.min((now - last) / 1000, 0.25) : 0;
      last = clock.playing.value ? now : 0;
      clock.pass(seconds);
      made.time = clock.shown.value;
      made.pace = clock.playing.value ? clock.speed.value : 0;
      return clock.playing.value;
    });
    show(made);
    const ends = [
      effect(() => {
        const dark = prefs.isDark();
        made.set({
          scale: prefs.scale.value, labels: prefs.labels.value === 'on', orbits: prefs.orbits.value === 'on',
          byGroup: prefs.byGroup.value === 'on', still: prefs.still.value, dark,
        }, THEMES[dark ? 'dark' : 'light']);
      }),
      effect(() => {
        const world = app.world.value, id = app.open.value?.id ?? null;
        made.time = clock.shown.peek();
        made.show(world, id !== shown);
        shown = id;
        spread.value = made.layout?.spread ?? false;
        holder.current!.dataset.bodies = String(world?.bodies.length ?? 0);
      }),
      effect(() => {
        const ref = app.selected.value;
        made.selected = ref?.family === 'stars' ? app.world.value?.byId.get(ref.id)?.index ?? -1 : -1;
        // Following begins with going there.
        if (app.following.value && !made.following && made.selected >= 0) made.reveal(made.selected);
        made.following = app.following.value;
        made.ask();
      }),
      effect(() => {
        const view = app.eye.wanted.value;
        if (!view) return;
        app.eye.wanted.value = '';
        prefs.scale.value = view.endsWith('true') ? 'true' : 'compact';
        const stays = made.look(view);
        if (stays === null) app.say('The link has a view that cannot be read.', true); else app.following.value = stays;
      }),
      effect(() => { holder.current!.dataset.revision = String(app.open.value?.revision ?? -1); }),
      effect(() => { void clock.shown.value; void clock.playing.value; made.ask(); }),
    ];
    app.eye.tell = () => made.view();
    made.onRest = () => app.settle();
    const stop = pointers(holder.current!, made);
    return () => { ends.forEach((end) => end()); stop(); made.dispose(); show(null); };
  }, []);
  const scale = prefs.scale.value;
  const name = app.open.value?.name ?? '';
  return (
    <section class="stage" aria-label="Picture">
      <div class="canvas" ref={holder} tabIndex={0} role="application" aria-roledescription="three-dimensional picture"
        aria-label={`${name} seen in space. Arrow keys turn it, plus and minus zoom. The list of bodies holds the same.`} onKeyDown={keys} />
      <div class="chips">
        <button type="button" class="chip" aria-keyshortcuts="S" title="Change the scale (S)" onClick={() => { prefs.scale.value = scale === 'compact' ? 'true' : 'compact'; }}>
          <strong>{scale === 'compact' ? 'Compact scale' : 'True distances'}</strong>
          <span>{scale === 'compact' ? 'order and directions hold, distances and sizes do not' : 'and sizes; what is too small to see is a dot'}</span>
        </button>
        <TryIt />
        {spread.value && <span class="chip quiet">Systems without a place are side by side</span>}
      </div>
      <div class="tools" role="group" aria-label="View">
        <IconButton name="fit" label="Show everything" keys="0" onClick={() => { app.following.value = false; stage?.fit(); }} />
        <IconButton name="plus" label="Nearer" keys="+" onClick={() => stage?.zoom(1 / 1.4)} />
        <IconButton name="minus" label="Further" keys="-" onClick={() => stage?.zoom(1.4)} />
        <IconButton name="tag" label="Names" keys="L" pressed={prefs.labels.value === 'on'} onClick={() => prefs.flip(prefs.labels)} />
        <IconButton name="orbit" label="Orbits" keys="O" pressed={prefs.orbits.value === 'on'} onClick={() => prefs.flip(prefs.orbits)} />
        <IconButton name="full" label="Full screen" keys="V" onClick={fullScreen} />
        <IconButton name="palette" label="Colour by group" keys="C" pressed={prefs.byGroup.value === 'on'} onClick={() => prefs.flip(prefs.byGroup)} />
      </div>
      <Ways />
    </section>
  );
}

function keys(event: KeyboardEvent): void {
  if (!stage || event.ctrlKey || event.metaKey || event.altKey) return;
  const move = (x: number, y: number) => (event.shiftKey ? stage!.pan(-x * 40, -y * 40) : stage!.turn(x * 20, y * 20));
  const moves: Record<string, () => void> = {
    ArrowLeft: () => move(1, 0), ArrowRight: () => move(-1, 0), ArrowUp: () => move(0, 1), ArrowDown: () => move(0, -1),
    Enter: () => { if (app.selected.value) focus(app.selected.value); },
  };
  const work = moves[event.key];
  if (!work) return;
  event.preventDefault();
  work();
}

/** Drag turns, with Shift, the right button or two fingers it moves; wheel and pinch zoom; a click selects. */
function pointers(holder: HTMLElement, stage: Stage): () => void {
  const down = new Map<number, { x: number; y: number }>();
  let moved = 0, panning = false;
  const local = (event: PointerEvent | MouseEvent) => {
    const box = holder.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const ends = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(name: K, work: (event: HTMLElementEventMap[K]) => void, passive = true) =>
    holder.addEventListener(name, work, { signal: ends.signal, passive });
  on('pointerdown', (event) => {
    holder.setPointerCapture(event.pointerId);
    down.set(event.pointerId, local(event));
    moved = 0;
    panning = event.button !== 0 || event.shiftKey;
  });
  on('pointermove', (event) => {
    const now = local(event), old = down.get(event.pointerId);
    if (!old) {
      if (event.pointerType !== 'mouse') return;
      const found = stage.pick(now.x, now.y);
      if (found !== stage.hovered) { stage.hovered = found; holder.dataset.over = String(found >= 0); stage.ask(); }
      return;
    }
    const [dx, dy] = [now.x - old.x, now.y - old.y];
    if (down.size === 2) {
      const other = [...down].find(([id]) => id !== event.pointerId)![1];
      const [before, after] = [Math.hypot(old.x - other.x, old.y - other.y), Math.hypot(now.x - other.x, now.y - other.y)];
      if (before > 0 && after > 0) stage.zoom(before / after);
      stage.pan(dx / 2, dy / 2);
    } else if (panning) { app.following.value = false; stage.pan(dx, dy); } else stage.turn(dx, dy);
    moved += Math.abs(dx) + Math.abs(dy);
    down.set(event.pointerId, now);
  });
  const up = (event: PointerEvent) => {
    if (!down.delete(event.pointerId) || moved > 5 || event.type !== 'pointerup' || event.button !== 0) return;
    const { x, y } = local(event);
    const body = app.world.value?.bodies[stage.pick(x, y)];
    app.select(body ? { family: 'stars', id: body.star.id } : null);
    if (body) { prefs.side.value = 'inspector'; if (prefs.narrow.value) prefs.sheet.value = 'inspector'; }
  };
  on('pointerup', up);
  on('pointercancel', up);
  on('pointerleave', () => { if (stage.hovered >= 0) { stage.hovered = -1; stage.ask(); } });
  on('dblclick', (event) => {
    const { x, y } = local(event);
    const index = stage.pick(x, y);
    if (index >= 0) { stage.focus(index); app.following.value = true; }
  });
  on('contextmenu', (event) => event.preventDefault(), false);
  on('wheel', (event) => { event.preventDefault(); stage.zoom(Math.exp(Math.min(Math.max(event.deltaY, -120), 120) * 0.0016)); }, false);
  return () => ends.abort();
}
