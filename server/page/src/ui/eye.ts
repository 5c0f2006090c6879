// The stage that is shown, and what goes to a body in it.

import * as app from '../app';
import { type Body, type Ref, same } from '../model';
import type { Stage } from '../stage';

/** The stage that is shown, for what is outside of it. */
export let stage: Stage | null = null;
export function show(made: Stage | null): void { stage = made; }

/** The body that is meant by an entity: itself, the host of a belt, the first of a group. */
function bodyOf(ref: Ref): Body | undefined {
  const world = app.world.value;
  if (!world || ref.family === 'stars') return world?.byId.get(ref.id);
  return ref.family === 'groups' ? world.bodies.find((body) => body.depth === 0 && body.group?.id === ref.id)
    : world.matter.find(({ it, family }) => family === ref.family && it.id === ref.id)?.host;
}

/** Goes to an entity, and stays with it while time goes on. */
export function focus(ref: Ref): void {
  const body = bodyOf(ref);
  if (!body) { stage?.fit(); return; }
  stage?.focus(body.index);
  if (same(ref, app.selected.value)) app.following.value = true;
}

/** Brings an entity into the picture. */
export function reveal(ref: Ref): void {
  const body = bodyOf(ref);
  if (body && ref.family === 'stars') stage?.reveal(body.index);
}
