// One command to try, as people, programs and models send it, side by side: it gives a planet a ring.

import { signal } from '@preact/signals';
import * as api from '../api';
import * as app from '../app';
import type { Body } from '../model';
import { focus } from './eye';
import { Icon } from './Icon';

const open = signal(false);

/** The planet that gets a ring: Neptune where there is one. */
function planet(): Body | undefined {
  const world = app.world.value, chosen = world?.byId.get(app.selected.value?.id ?? '');
  return world?.byId.get('neptune') ?? (chosen?.kind === 'planet' ? chosen : world?.bodies.find((body) => body.kind === 'planet' && !body.star.ring));
}

/** The button that opens it. */
export function TryIt() {
  const body = planet();
  if (!body || open.value) return null;
  return <button type="button" class="chip try-open" onClick={() => { open.value = true; }}><Icon name="spark" /><strong>Try it</strong><span>give {body.star.name} a ring</span></button>;
}

/** The three ways, and a button that goes one of them. */
export function Ways() {
  const body = planet(), now = app.open.value;
  if (!open.value || !body || !now) return null;
  const { id, name, ring } = body.star, why = app.whyNot.value;
  const command: api.Command = { type: 'updateRing', planetId: id, patch: { innerRadiusMultiplier: 1.6, outerRadiusMultiplier: 2.6, color: '#9db4ff', opacity: 0.8 } };
  const what = `Give ${name} a ring`;
  const run = async () => {
    const ref = { family: 'stars', id } as const;
    if (app.selected.value?.id !== id) { app.select(ref); focus(ref); }
    await app.command(ring ? { type: 'removeRing', planetId: id } : command, ring ? `The ring of ${name} is gone.` : `${name} has a ring.`);
  };
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const rest = [`curl ${location.origin}${api.pathOf(now.id)}/commands`, ...(api.token() ? ['-H "authorization: Bearer $TOKEN"'] : []),
    "-H 'content-type: application/json'", `-d ${quoted(written(command))}`].join(' \\\n  ');
  const call = { method: 'tools/call', params: { name: 'send_universe_command', arguments: { universeId: now.id, command } } };
  return (
    <section class="try" aria-label="Try it">
      <header>
        <h2>{what}</h2>
        <button type="button" class="primary" disabled={!!why} title={why ?? undefined} onClick={() => void run()}>{ring ? 'Take it away' : 'Do it'}</button>
        <span class="stretch" />
        <button type="button" class="icon-button" aria-label="Close" title="Close" onClick={() => { open.value = false; }}><Icon name="close" /></button>
      </header>
      <div class="ways">
        <Way title="The command" text={written(command)}>All that changes a universe is a command. Everybody who looks sees it at once.</Way>
        <Way title="From a program: REST" text={rest}>Paste it into a terminal.</Way>
        <Way title="From an AI: MCP" text={written(call)}>{`Connect a client to ${location.origin}/mcp and say: “${what}.”`}</Way>
      </div>
    </section>
  );
}

/** JSON in one line, with room between. */
const written = (it: unknown) => JSON.stringify(it, null, 1).replace(/\n\s*/g, ' ');

function Way({ title, text, children }: { title: string; text: string; children: string }) {
  return (
    <div class="way">
      <h3>{title}</h3>
      <pre tabIndex={0} aria-label={title}>{text}</pre>
      <p class="note">{children}</p>
    </div>
  );
}
