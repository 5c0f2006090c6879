// The outline beside the picture: the same bodies as a tree, for the keyboard, for screen readers and for searching.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import * as app from '../app';
import { type Ref, same } from '../model';
import { dialog, side } from '../prefs';
import { KINDS, MAX_HITS, type Row, rowsOf, search } from '../rows';
import { IconButton } from './Icon';
import { reveal } from './eye';

const HEIGHT = 30;

export function Bodies({ focus }: { focus(ref: Ref): void }) {
  const words = useSignal('');
  const flipped = useSignal(new Set<string>());
  const view = useSignal({ top: 0, height: 600 });
  const active = useSignal(0);
  const box = useRef<HTMLDivElement>(null);
  const rows = useComputed(() => {
    const world = app.world.value;
    if (!world) return [];
    return words.value.trim() ? search(world, words.value) : rowsOf(world, flipped.value);
  });
  const show = (at: number) => {
    const element = box.current;
    active.value = Math.min(Math.max(at, 0), Math.max(rows.value.length - 1, 0));
    if (!element) return;
    const top = active.value * HEIGHT;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + HEIGHT > element.scrollTop + element.clientHeight) element.scrollTop = top + HEIGHT - element.clientHeight;
  };
  const flip = (row: Row) => {
    const next = new Set(flipped.value);
    if (!next.delete(row.key)) next.add(row.key);
    flipped.value = next;
  };
  // What is selected elsewhere is shown here, if it is among the open rows.
  useEffect(() => {
    const at = rows.value.findIndex((row) => same(row.ref, app.selected.value));
    if (at >= 0) show(at);
  }, [app.selected.value]);
  useEffect(() => {
    const element = box.current!;
    const seen = () => { view.value = { top: element.scrollTop, height: element.clientHeight }; };
    const observer = new ResizeObserver(seen);
    observer.observe(element);
    element.addEventListener('scroll', seen);
    seen();
    return () => { observer.disconnect(); element.removeEventListener('scroll', seen); };
  }, []);
  const keys = (event: KeyboardEvent) => {
    const row = rows.value[active.value];
    const page = Math.max(1, Math.floor(view.value.height / HEIGHT) - 1);
    const moves: Record<string, () => void> = {
      ArrowDown: () => show(active.value + 1), ArrowUp: () => show(active.value - 1),
      PageDown: () => show(active.value + page), PageUp: () => show(active.value - page),
      Home: () => show(0), End: () => show(rows.value.length - 1),
      ArrowRight: () => { if (row?.open === false) flip(row); else if (row?.open) show(active.value + 1); },
      ArrowLeft: () => {
        if (row?.open) flip(row);
        else for (let at = active.value - 1; at >= 0; at -= 1) if (rows.value[at]!.level < row!.level) { show(at); break; }
      },
      // Space is left to the page: it plays, whatever has the focus.
      Enter: () => { if (row) { app.select(row.ref); focus(row.ref); } },
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  };
  const from = Math.max(0, Math.floor(view.value.top / HEIGHT) - 6);
  const shown = rows.value.slice(from, from + Math.ceil(view.value.height / HEIGHT) + 12);
  const world = app.world.value;
  const why = app.whyNot.value;
  return (
    <>
      <div class="panel-head">
        <h2>Bodies <span class="count">{world?.bodies.length ?? 0}</span></h2>
        <IconButton name="plus" label={why ? `Add a body: ${why}` : 'Add a body'} disabled={!!why} onClick={() => { dialog.value = { kind: 'body', parent: app.selected.value?.family === 'stars' ? app.selected.value.id : null }; }} />
      </div>
      <div class="search">
        <input id="search" type="search" placeholder="Search by name, id or kind" aria-label="Search the universe" autocomplete="off" spellcheck={false}
          value={words.value} aria-keyshortcuts="/" onInput={(event) => { words.value = event.currentTarget.value; active.value = 0; if (box.current) box.current.scrollTop = 0; }}
          onKeyDown={(event) => {
            const first = rows.value[0];
            if (event.key === 'Enter' && first) { app.select(first.ref); focus(first.ref); }
            if (event.key === 'ArrowDown') { event.preventDefault(); box.current?.focus(); }
            if (event.key === 'Escape' && words.value) { event.stopPropagation(); words.value = ''; }
          }} />
      </div>
      <div class="tree" role="tree" aria-label="Bodies of the universe" tabIndex={0} ref={box} onKeyDown={keys}
        aria-activedescendant={rows.value.length ? `row-${active.value}` : undefined}>
        <div class="tree-all" role="presentation" style={{ height: `${rows.value.length * HEIGHT}px` }}>
          {shown.map((row, n) => (
            <TreeRow key={row.key} row={row} at={from + n} active={active.value === from + n} flip={flip} focus={focus} />
          ))}
        </div>
      </div>
      {world && rows.value.length === 0 && (
        <p class="empty">{words.value ? 'Nothing has these words in its name, id or kind.' : 'This universe is empty. Add a body to begin with.'}</p>
      )}
      {words.value && rows.value.length === MAX_HITS && <p class="note">The first {MAX_HITS} are shown. More words narrow it down.</p>}
    </>
  );
}

function TreeRow({ row, at, active, flip, focus }: { row: Row; at: number; active: boolean; flip(row: Row): void; focus(ref: Ref): void }) {
  const selected = same(row.ref, app.selected.value);
  return (
    <div id={`row-${at}`} class="row" data-active={active} role="treeitem" aria-level={row.level} aria-setsize={row.size} aria-posinset={row.position}
      aria-selected={selected} aria-expanded={row.open ?? undefined} style={{ top: `${at * HEIGHT}px`, paddingLeft: `${row.level * 14 - 4}px` }}
      onClick={() => { app.select(row.ref); reveal(row.ref); side.value = 'inspector'; }} onDblClick={() => focus(row.ref)}>
      {row.open === null
        ? <span class="twist" />
        : <span class="twist" data-open={row.open} onClick={(event) => { event.stopPropagation(); flip(row); }}>›</span>}
      <span class={`dot ${row.kind}`} style={{ backgroundColor: row.color, borderColor: row.color }} />
      <span class="name">{row.name}</span>
      <span class="kind">{row.open === false ? row.count : KINDS[row.kind] ?? row.kind}</span>
    </div>
  );
}
