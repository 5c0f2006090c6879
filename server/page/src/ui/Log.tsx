// What was done to the universe, whoever did it, and the way back.

import * as app from '../app';
import type { Entry } from '../api';
import { Icon } from './Icon';

/** A command in a line. */
export function summary({ command, name }: Entry): string {
  if (!command) return name ? `named ${name}` : 'name or state put';
  const { type, id, ...rest } = command;
  const what = (rest.payload ?? rest.patch) as Record<string, unknown> | undefined;
  if (type === 'tick') return `by ${String(rest.dt)} s`;
  if (what) {
    const named = type.startsWith('add') ? [what.name] : Object.entries(what).slice(0, 3).map(([key, value]) => `${key} ${short(value)}`);
    return [id ?? rest.planetId, ...named].filter(Boolean).join(' · ');
  }
  return [id, rest.childId, rest.planetId, rest.parentId && `to ${rest.parentId as string}`, rest.groupId && `in ${rest.groupId as string}`].filter(Boolean).join(' · ');
}

const short = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text && text.length > 24 ? `${text.slice(0, 23)}…` : text;
};
const clockTime = (at: string | undefined) => (at ? new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' }) : '');

const LINKS = { live: 'Live', connecting: 'Connecting', reconnecting: 'Reconnecting', ended: 'Not connected' };

export function LinkState() {
  const state = app.link.value;
  return <span class="link-state" data-state={state} role="status"><span class="lamp" /><span>{LINKS[state]}{state === 'reconnecting' ? '…' : ''}</span></span>;
}

export function Log() {
  const why = app.whyNot.value;
  const revision = app.open.value?.revision ?? 0;
  return (
    <div class="log">
      <div class="panel-head">
        <h2>Log <span class="count">revision {revision}</span></h2>
        <button type="button" class="small" disabled={!!why || revision === 0} title={why ?? 'Go back by one (Ctrl+Z)'} onClick={() => void app.undoTo(revision - 1)}><Icon name="undo" />Undo</button>
      </div>
      {app.log.value.length === 0 && <p class="empty">Nothing was done yet. Each command appears here, whoever sends it.</p>}
      <ol class="entries" aria-label="Commands, the newest first" tabIndex={0}>
        {app.log.value.map((entry) => (
          <li key={entry.revision}>
            <span class="revision">{entry.revision}</span>
            <div class="what">
              <strong>{entry.command?.type ?? 'replaced'}</strong>
              <span class="summary">{summary(entry)}</span>
            </div>
            <time dateTime={entry.at}>{clockTime(entry.at)}</time>
            {entry.revision < revision && (
              <button type="button" class="link" disabled={!!why} aria-label={`Back to here: revision ${entry.revision}`} onClick={() => void app.undoTo(entry.revision)}>Back to here</button>
            )}
          </li>
        ))}
      </ol>
      {app.hasOlder.value && <button type="button" class="older" onClick={() => void app.olderLog()}>Show older</button>}
    </div>
  );
}
