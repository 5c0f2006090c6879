// What is selected: all of it that can be edited, each change as a command, and what the server says to it.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import * as api from '../api';
import * as app from '../app';
import * as clock from '../clock';
import { type Member, RING, change, inUnits, removal, sectionsOf } from '../members';
import { type Body, type Ref, type State, entity, same } from '../model';
import { elementsOf, period, pointAtTime } from '../orbit';
import { dialog } from '../prefs';
import { KINDS } from '../rows';
import { large, metric, unitOf } from '../units';
import { Field } from './Field';
import { Icon } from './Icon';

export function Inspector({ focus }: { focus(ref: Ref): void }) {
  const world = app.world.value, ref = app.selected.value;
  const warnings = useSignal<api.Finding[]>([]);
  useEffect(() => { warnings.value = []; }, [ref?.family, ref?.id]);
  const it = world && entity(world.state, ref);
  if (!world || !ref || !it) {
    return (
      <div class="empty-state">
        <Icon name="target" />
        <p>Nothing is selected.</p>
        <p class="note">Click a body in the picture or in the list, or press <kbd>/</kbd> to search.</p>
      </div>
    );
  }
  const body = ref.family === 'stars' ? world.byId.get(ref.id) ?? null : null;
  const why = app.whyNot.value;
  const send = async (command: api.Command): Promise<string | null> => {
    const open = app.open.value;
    if (!open) return 'No universe is open.';
    try {
      const { warnings: found } = await api.send(open.id, command);
      if (same(ref, app.selected.value)) warnings.value = found;
      if (found.length) app.spoken.value = `Taken with ${found.length} warnings`;
      return null;
    } catch (error) {
      if (error instanceof api.Refused) return error.findings[0]?.message ?? error.message;
      return String(error);
    }
  };
  const set = (member: Member) => (value: unknown) => {
    // Elements are given whole.
    const patch: Record<string, unknown> = member.inside ? { [member.inside]: { ...it[member.inside] as object, [member.name]: value } } : { [member.name]: value };
    // Both members mean the same distance; who reads the older one must not see another.
    if (member.name === 'semiMajorAxis' && !member.inside) patch.orbitalDistance = value;
    return send(change(ref.family, ref.id, patch));
  };
  const valueOf = (member: Member) => (member.inside ? (it[member.inside] as Record<string, unknown>)[member.name] : member.name === 'semiMajorAxis' ? it.semiMajorAxis ?? it.orbitalDistance : it[member.name]);
  const ring = body?.star.ring;
  return (
    <div class="inspector">
      <header class="selection">
        <span class={`dot big ${body?.kind ?? ref.family}`} style={{ backgroundColor: String(it.color ?? it.baseColor ?? '#888') }} />
        <div>
          <h2>{String(it.name || ref.id)}</h2>
          <p class="note">{KINDS[body?.kind ?? ref.family] ?? body?.kind} · <code>{ref.id}</code></p>
        </div>
      </header>
      {body && <Actions body={body} focus={focus} why={why} />}
      {why && <p class="banner"><Icon name="lock" />{why}</p>}
      {warnings.value.length > 0 && (
        <div class="warnings" role="status">
          <strong>Taken, although odd</strong>
          <ul>{warnings.value.map((found) => <li key={found.path}><code>{found.path.replace(/^\/(payload|patch)\//, '')}</code> {found.message}</li>)}</ul>
        </div>
      )}
      {body && <Facts body={body} />}
      {sectionsOf(ref.family, !!body && !!elementsOf(body.star)).map((section) => (
        <details key={section.title} class="section" open={!section.shut}>
          <summary>{section.title}</summary>
          {section.members.map((member) => (
            <Field key={`${ref.id}-${member.name}`} member={inUnits(member, world.state)} value={valueOf(member)} hint={hintOf(member, valueOf(member), world.state, body)} disabled={!!why} commit={set(member)} />
          ))}
        </details>
      ))}
      {body && ring && (
        <details class="section" open>
          <summary>Ring</summary>
          {RING.map((member) => (
            <Field key={`${ref.id}-ring-${member.name}`} member={inUnits(member, world.state)} value={(ring as unknown as Record<string, unknown>)[member.name]} disabled={!!why}
              commit={(value) => send({ type: 'updateRing', planetId: ref.id, patch: { [member.name]: value } })} />
          ))}
        </details>
      )}
      {body && <Parent body={body} disabled={!!why} send={send} />}
      <div class="buttons">
        {body && (ring
          ? <button type="button" disabled={!!why} onClick={() => void app.command({ type: 'removeRing', planetId: ref.id }, 'The ring is gone.')}>Remove ring</button>
          : <button type="button" disabled={!!why} onClick={() => void app.command({ type: 'updateRing', planetId: ref.id, patch: {} }, `${it.name} has a ring.`)}>Add ring</button>)}
        {body && <button type="button" disabled={!!why} onClick={() => { dialog.value = { kind: 'body', parent: ref.id }; }}>Add satellite</button>}
        <button type="button" class="danger" disabled={!!why} onClick={() => void app.command(removal(ref.family, ref.id), `${it.name || ref.id} is removed${body?.children.length ? ', with all that orbits it' : ''}.`)}>Remove</button>
      </div>
    </div>
  );
}

function Actions({ body, focus, why }: { body: Body; focus(ref: Ref): void; why: string | null }) {
  const on = app.following.value;
  return (
    <div class="buttons">
      <button type="button" onClick={() => focus({ family: 'stars', id: body.star.id })}><Icon name="target" />Go there</button>
      <button type="button" aria-pressed={on} onClick={() => { app.following.value = !on; }}><Icon name="orbit" />{on ? 'Following' : 'Follow'}</button>
      {body.parent >= 0 && (
        <button type="button" disabled={!!why} onClick={() => void app.command({ type: 'detachStar', childId: body.star.id }, `${body.star.name} orbits nothing now.`)}>Detach</button>
      )}
    </div>
  );
}

/** What everybody asks of a body, at the time shown. */
function Facts({ body }: { body: Body }) {
  const p = new Float64Array(3), { state, bodies } = app.world.value!;
  pointAtTime(body.orbit, clock.shown.value, p);
  const round = period(body.orbit), parent = bodies[body.parent], far = Math.hypot(p[0]!, p[1]!, p[2]!);
  const across = metric(state, 'radius', 2 * body.star.radius);
  const moons = body.children.filter((child) => bodies[child]!.kind === 'moon').length, others = body.children.length - moons;
  return (
    <dl class="facts">
      {parent && (<><dt>Orbits</dt><dd><button type="button" class="link" onClick={() => app.select({ family: 'stars', id: parent.star.id })}>{parent.star.name || parent.star.id}</button></dd></>)}
      {parent && Number.isFinite(round) && (<><dt>{parent.kind === 'star' ? 'Year' : 'One orbit'}</dt><dd>{clock.span(round)}</dd></>)}
      {parent
        ? (<><dt>Distance now</dt><dd>{measured(state, far)}</dd></>)
        : (<><dt>Place</dt><dd>{[...p].map(clock.figure).join(', ')}</dd></>)}
      {!!body.star.rotationPeriod && (<><dt>Turns in</dt><dd>{clock.span(body.star.rotationPeriod)}</dd></>)}
      {across !== undefined && body.star.radius > 0 && (<><dt>Across</dt><dd>{large(across)} km</dd></>)}
      {moons > 0 && (<><dt>Moons</dt><dd>{moons}</dd></>)}
      {others > 0 && (<><dt>{moons ? 'Others around it' : 'Around it'}</dt><dd>{others}</dd></>)}
      {body.group && (<><dt>Group</dt><dd><span class="dot" style={{ backgroundColor: body.groupColor ?? '#888' }} />{body.group.name}</dd></>)}
    </dl>
  );
}

/** A distance in the universe's unit, and in kilometres where that is known. */
function measured(state: State, distance: number): string {
  const unit = unitOf(state, 'length'), km = metric(state, 'length', distance), own = `${clock.figure(distance)} ${unit}`;
  // What is a small part of the unit is better said in kilometres alone.
  return km === undefined || unit === 'km' ? own : distance < 0.05 ? `${large(km)} km` : `${own} · ${large(km)} km`;
}

/** What it orbits, by id or name. */
function Parent({ body, disabled, send }: { body: Body; disabled: boolean; send(command: api.Command): Promise<string | null> }) {
  const world = app.world.value!;
  const named = (text: string) => world.byId.get(text) ?? world.bodies.find((other) => other.star.name.toLowerCase() === text.toLowerCase());
  return (
    <details class="section">
      <summary>Move to another body</summary>
      <Field key={`${body.star.id}-parent`} member={{ name: 'parentId', label: 'Orbits', kind: 'text' }} value={world.bodies[body.parent]?.star.id ?? ''}
        hint="The id or the name of a body" disabled={disabled}
        commit={async (value) => {
          const parent = named(String(value).trim());
          if (!parent) return `No body is called ${String(value)}.`;
          return send({ type: 'attachStar', childId: body.star.id, parentId: parent.star.id });
        }} />
    </details>
  );
}

/** The same in kilograms, kilometres and years. */
function hintOf(member: Member, value: unknown, state: State, body: Body | null): string | undefined {
  if (typeof value !== 'number') return undefined;
  if (member.of) {
    const by = metric(state, member.of, value), plain = member.of === 'mass' ? 'kg' : 'km';
    return by === undefined || state.units?.[member.of] === plain ? undefined : `${large(by)} ${plain}`;
  }
  if (member.name === 'period' || member.name === 'rotationPeriod') return clock.span(value);
  if (member.name === 'orbitalSpeed' && body && Number.isFinite(period(body.orbit))) return `One orbit takes ${clock.span(period(body.orbit))}`;
  return undefined;
}
