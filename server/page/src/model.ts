// A universe as it is drawn and listed: bodies in an order in which parents come first, and who belongs to whom.

import { type Disk, type Orbit, type Orbiting, type Point, equatorOf, orbitOf } from './orbit';

export interface Ring {
  innerRadiusMultiplier: number; outerRadiusMultiplier: number; thickness: number; opacity: number;
  albedo: number; color: string; density: number;
}
export interface Star extends Orbiting {
  id: string; name: string; color: string; mass: number; radius: number;
  children: string[]; parentId: string | null; bodyType?: string; ring?: Ring | null; rotationPeriod?: number;
  isRoguePlanet?: boolean; radiusKm?: number;
  comet?: { hasTail?: boolean; tailColor?: string; tailLengthBase?: number };
  blackHole?: {
    hasAccretionDisk?: boolean; hasRelativisticJet?: boolean; diskInnerColor?: string; diskOuterColor?: string;
    diskTilt?: number; accretionInnerRadius?: number; accretionOuterRadius?: number; shadowRadius?: number;
  };
  [member: string]: unknown;
}
export interface Group {
  id: string; name: string; children: { id: string; type: string }[]; parentGroupId: string | null;
  color?: string; icon?: string; position?: Point; [member: string]: unknown;
}
/** A belt of particles or a disk: both are rings of matter about a body. */
export interface Matter {
  id: string; name?: string; innerRadius: number; outerRadius: number; thickness: number; particleCount: number;
  baseColor: string; highlightColor: string; opacity: number; rotationSpeedMultiplier: number;
  seed: string | number; visible?: boolean; hostStarId?: string; centralStarId?: string; regionLabel?: string;
  [member: string]: unknown;
}
export interface Nebula {
  id: string; name: string; position: Point; radius: number; density: number; brightness: number;
  baseColor: string; accentColor: string; seed: string | number; visible?: boolean; [member: string]: unknown;
}
export interface State {
  stars: Record<string, Star>; rootIds: string[];
  groups: Record<string, Group>; rootGroupIds: string[];
  belts: Record<string, unknown>;
  smallBodyFields: Record<string, Matter>; protoplanetaryDisks: Record<string, Matter>;
  nebulae: Record<string, Nebula>; time: number;
  /** The date at time 0. */
  epoch?: string;
  /** What lengths, masses and radii are measured in. */
  units?: { length?: string; mass?: string; radius?: string };
}

export type Family = 'stars' | 'groups' | 'smallBodyFields' | 'protoplanetaryDisks' | 'nebulae';
/** An entity: which map it is in, and its id. */
export interface Ref { family: Family; id: string }
export const same = (a: Ref | null, b: Ref | null) => a === b || (!!a && !!b && a.family === b.family && a.id === b.id);

export interface Body {
  index: number; star: Star; kind: string; parent: number; depth: number; children: number[]; orbit: Orbit;
  /** How its rings and disks lie. */
  disk: Disk;
  /** The colour of the innermost group that has one and that it is in; and that group. */
  groupColor?: string; group?: Group; matter: Matter[];
}
export interface World {
  state: State; bodies: Body[]; roots: number[]; byId: Map<string, Body>;
  /** Belts and disks with a host that is there. */
  matter: { it: Matter; family: Family; host: Body; speed: number }[];
}

/** The body whose light another has: the nearest star above it, else the outermost body; −1 for stars and what circles nothing. */
export function sunOf({ bodies }: World, body: Body): number {
  let sun = body.kind === 'star' ? -1 : body.parent;
  while (sun >= 0 && bodies[sun]!.kind !== 'star' && bodies[sun]!.parent >= 0) sun = bodies[sun]!.parent;
  return sun;
}

/** What a body is called in the list; derived where nothing says it. */
function kindOf(star: Star, depth: number): string {
  if (star.blackHole) return 'blackHole';
  if (star.isRoguePlanet || star.roguePlanet) return 'roguePlanet';
  if (star.bodyType) return star.bodyType;
  return depth === 0 ? 'star' : depth === 1 ? 'planet' : 'moon';
}

/** Reads a state. What no list names still gets drawn, as a root; circles are cut where they close. */
export function worldOf(state: State): World {
  const bodies: Body[] = [], byId = new Map<string, Body>(), roots: number[] = [];
  const add = (id: string, parent: Body | null) => {
    const star = state.stars[id];
    if (!star || byId.has(id)) return;
    const depth = parent ? parent.depth + 1 : 0;
    const orbit = orbitOf(star, parent?.star, state);
    const body: Body = {
      index: bodies.length, star, kind: kindOf(star, depth), parent: parent ? parent.index : -1, depth, children: [],
      orbit, disk: equatorOf(star) ?? orbit, matter: [],
    };
    bodies.push(body);
    byId.set(id, body);
    if (parent) parent.children.push(body.index); else roots.push(body.index);
  };
  const grow = (from: number) => {
    // Breadth first: parents come before their children.
    for (let next = from; next < bodies.length; next += 1) {
      const body = bodies[next]!;
      for (const child of body.star.children ?? []) add(child, body);
    }
  };
  for (const id of state.rootIds ?? []) add(id, null);
  grow(0);
  for (const id in state.stars) {
    if (byId.has(id)) continue;
    const from = bodies.length;
    add(id, null);
    grow(from);
  }
  markGroups(state, bodies, byId);
  const matter: World['matter'] = [], paces = new Map<Body, ReturnType<typeof pacesOf>>();
  const take = (map: Record<string, Matter>, family: Family, hostOf: (it: Matter) => string | undefined) => {
    for (const id in map) {
      const it = map[id]!, host = byId.get(hostOf(it) ?? '');
      if (!host) continue;
      host.matter.push(it);
      let near = paces.get(host);
      if (!near) paces.set(host, near = pacesOf(host, bodies));
      matter.push({ it, family, host, speed: turning(it, near) });
    }
  };
  take(state.smallBodyFields ?? {}, 'smallBodyFields', (it) => it.hostStarId);
  take(state.protoplanetaryDisks ?? {}, 'protoplanetaryDisks', (it) => it.centralStarId);
  return { state, bodies, roots, byId, matter };
}

/** Gives each body its group: the one that names it, else that of what it circles. */
function markGroups(state: State, bodies: Body[], byId: Map<string, Body>): void {
  const named = new Map<Body, Group>();
  for (const id in state.groups) {
    const group = state.groups[id]!;
    for (const child of group.children ?? []) {
      const body = child.type === 'system' ? byId.get(child.id) : undefined;
      if (body) named.set(body, group);
    }
  }
  // Parents come before their children, so that one pass is enough.
  for (const body of bodies) {
    body.group = named.get(body) ?? bodies[body.parent]?.group;
    body.groupColor = body.group?.color;
  }
}

/** The satellites of a body that a belt can turn like, the nearest first. */
function pacesOf(host: Body, bodies: Body[]): { a: number; speed: number }[] {
  const orbits = host.children.map((index) => bodies[index]!.orbit).filter(({ a, speed }) => a > 0 && speed);
  return orbits.sort((one, other) => one.a - other.a);
}

/** Degrees per second in the middle of a belt: as of the host's satellite nearest to it, by Kepler's third law. */
function turning(it: Matter, paces: { a: number; speed: number }[]): number {
  const middle = (it.innerRadius + it.outerRadius) / 2;
  let low = 0, high = paces.length;
  while (low < high) {
    const at = (low + high) >> 1;
    if (paces[at]!.a < middle) low = at + 1; else high = at;
  }
  let best = 0, nearest = Infinity;
  for (const { a, speed } of paces.slice(Math.max(low - 1, 0), low + 1)) {
    const distance = Math.abs(Math.log(a / middle));
    if (distance < nearest) {
      nearest = distance;
      best = speed * (a / middle) ** 1.5;
    }
  }
  return (best || 20 / Math.sqrt(Math.max(middle, 1e-9))) * (it.rotationSpeedMultiplier ?? 1);
}

/** The entity that is meant, if it is there. */
export function entity(state: State, ref: Ref | null): Record<string, unknown> | undefined {
  return ref ? (state[ref.family] as Record<string, Record<string, unknown>>)?.[ref.id] : undefined;
}
