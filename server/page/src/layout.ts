// Where things are put on the screen's stage. True distances span ten orders of magnitude, so there are two scales.
//
// Compact: order and directions are kept, distances and sizes are not. What circles one body is put on rings that leave
// room for each other; between them distances are stretched by their logarithm. So every path stays closed and nothing
// changes its order. True: distances are those of the universe.

import type { Body, World } from './model';
import { pointAtAngle, pointAtTime } from './orbit';
import { radiusIn } from './units';

export type Scale = 'compact' | 'true';

/** A distance from a body, and where it is put. */
interface Knot { from: number; to: number; slope: number }

export interface Layout {
  scale: Scale;
  /** The drawn radius of each body, in units of the stage. */
  radius: Float64Array;
  /** How far the satellites of each body reach. */
  extent: Float64Array;
  /** Puts a point relative to a body in its place, in `p` from `at` on. */
  place(parent: number, p: Float64Array, at: number): void;
  /** The distance that a distance from a body is drawn as. */
  stretch(parent: number, distance: number): number;
  /** Moves a root into its place. */
  root(body: Body, p: Float64Array, at: number): void;
  /** The factor for what lies in space and circles nothing. */
  space(distance: number): number;
  /** The half width of everything. */
  reach: number;
  /** Whether systems without places of their own were put side by side. */
  spread: boolean;
}

/** Orbits whose sizes differ by less than this factor share a ring. */
const ALIKE = 1.12;

/** A layout of a world; a pure function of both. */
export function layoutOf(world: World, scale: Scale): Layout {
  const { bodies, roots } = world;
  const count = bodies.length;
  const radius = new Float64Array(count), extent = new Float64Array(count);
  const knots: Knot[][] = Array.from({ length: scale === 'compact' ? count : 0 }, () => []);
  if (scale === 'compact') compactRadii(bodies, radius); else trueRadii(world, radius);
  for (let index = count - 1; index >= 0; index -= 1) {
    const body = bodies[index]!;
    if (scale === 'compact') {
      knots[index] = ringsOf(body, bodies, radius, extent);
      extent[index] = Math.max(knots[index]!.at(-1)?.to ?? 0, radius[index]!) + lastExtent(body, bodies, extent);
      for (const child of body.children) {
        const far = stretched(knots[index]!, furthest(bodies[child]!), radius[index]!) + extent[child]!;
        extent[index] = Math.max(extent[index]!, far);
      }
    } else {
      let reach = radius[index]!;
      for (const child of body.children) reach = Math.max(reach, furthest(bodies[child]!) + extent[child]!);
      for (const it of body.matter) reach = Math.max(reach, it.outerRadius);
      extent[index] = reach;
    }
  }
  const stretch = (parent: number, distance: number) =>
    scale === 'true' ? distance : stretched(knots[parent]!, distance, radius[parent]!);
  const place = (parent: number, p: Float64Array, at: number) => {
    if (scale === 'true') return;
    const distance = Math.hypot(p[at]!, p[at + 1]!, p[at + 2]!);
    if (distance < 1e-12) return;
    const factor = stretched(knots[parent]!, distance, radius[parent]!) / distance;
    p[at]! *= factor; p[at + 1]! *= factor; p[at + 2]! *= factor;
  };
  const { anchors, factor, spread } = anchorsOf(world, extent, scale);
  const single = roots.length === 1 && scale === 'compact' ? roots[0]! : -1;
  const space = (distance: number) =>
    single >= 0 && distance > 1e-12 ? stretched(knots[single]!, distance, radius[single]!) / distance : factor;
  let reach = 1e-9;
  const p = new Float64Array(3);
  const root = (body: Body, out: Float64Array, at: number) => {
    const anchor = anchors.get(body.index);
    const by = body.star.roguePlanet ? space(Math.hypot(out[at]!, out[at + 1]!, out[at + 2]!)) : factor;
    for (let axis = 0; axis < 3; axis += 1) out[at + axis] = out[at + axis]! * by + (anchor?.[axis] ?? 0);
  };
  for (const index of roots) {
    if (bodies[index]!.star.roguePlanet) continue;
    pointAtTime(bodies[index]!.orbit, 0, p);
    root(bodies[index]!, p, 0);
    reach = Math.max(reach, Math.hypot(p[0]!, p[1]!, p[2]!) + extent[index]!);
  }
  if (reach < 1e-8) reach = 10;
  return { scale, radius, extent, place, stretch, root, space, reach, spread };
}

const furthest = (body: Body) =>
  body.orbit.a + Math.hypot(body.orbit.cx, body.orbit.cy, body.orbit.cz);

function compactRadii(bodies: Body[], radius: Float64Array): void {
  const planets = bodies.filter((body) => body.kind === 'planet' && body.star.radius > 0);
  const sorted = (planets.length ? planets : bodies).map((body) => body.star.radius).filter((r) => r > 0).sort((a, b) => a - b);
  const middle = sorted[sorted.length >> 1] ?? 1;
  for (const body of bodies) {
    const drawn = 0.3 * (Math.max(body.star.radius, 0) / middle) ** 0.4;
    radius[body.index] = body.kind === 'lagrangePoint' ? 0.04 : Math.min(Math.max(drawn, 0.04), 1.8);
  }
}

/** Sizes in the unit of distances where that is known or can be: else dots of a few pixels. */
function trueRadii({ bodies, state }: World, radius: Float64Array): void {
  const fits = bodies.every((body) => body.parent < 0 || body.orbit.a === 0
    || body.star.radius + bodies[body.parent]!.star.radius < body.orbit.a);
  for (const body of bodies) radius[body.index] = radiusIn(state, body.star) ?? (fits ? Math.max(body.star.radius, 0) : 0);
}

function lastExtent(body: Body, bodies: Body[], extent: Float64Array): number {
  let far = 0, reach = 0;
  for (const child of body.children) {
    const a = bodies[child]!.orbit.a;
    if (a >= far) { far = a; reach = extent[child]!; }
  }
  return reach;
}

/** The rings about a body: its satellites and belts in their order, with room for what circles them. */
function ringsOf(body: Body, bodies: Body[], radius: Float64Array, extent: Float64Array): Knot[] {
  const own = radius[body.index]!;
  const entries: { from: number; room: number }[] = [];
  for (const child of body.children) {
    const { a } = bodies[child]!.orbit;
    if (a > 0) entries.push({ from: a, room: extent[child]! });
  }
  for (const it of body.matter) {
    entries.push({ from: Math.max(it.innerRadius, 1e-9), room: 0.1 * own }, { from: Math.max(it.outerRadius, 1e-9), room: 0.1 * own });
  }
  entries.sort((a, b) => a.from - b.from);
  const crowd = Math.min(1, 40 / Math.max(entries.length, 1));
  const gap = (body.depth === 0 ? 0.45 : 0.3) * own * crowd;
  const ring = body.star.ring ? own * Math.max(body.star.ring.outerRadiusMultiplier, 1) : 0;
  let to = Math.max(own * 1.5, ring * 1.05);
  const knots: Knot[] = [];
  let room = 0;
  for (const entry of entries) {
    const last = knots.at(-1);
    if (last && entry.from <= last.from * ALIKE) {
      const more = Math.max(entry.room - room, 0) * crowd;
      room = Math.max(room, entry.room);
      last.to += more;
      to = last.to;
      continue;
    }
    to += (room + entry.room) * crowd + gap;
    room = entry.room;
    knots.push({ from: entry.from, to, slope: 0 });
  }
  smooth(knots);
  return knots;
}

/** Slopes against the logarithm of the distance, by which a curve through the knots has no corner and keeps the order
 * (Fritsch and Carlson's rule). */
function smooth(knots: Knot[]): void {
  const rise = (n: number) => (knots[n + 1]!.to - knots[n]!.to) / Math.log(knots[n + 1]!.from / knots[n]!.from);
  for (let n = 0; n < knots.length; n += 1) {
    const before = n > 0 ? rise(n - 1) : 0, after = n + 1 < knots.length ? rise(n) : before;
    knots[n]!.slope = n === 0 ? after : Math.min((2 * before * after) / (before + after || 1), 3 * Math.min(before, after));
  }
}

/** A distance between two rings is put between them by its logarithm. */
function stretched(knots: Knot[], distance: number, own: number): number {
  const first = knots[0], last = knots.at(-1);
  if (!first || !last) return distance;
  if (distance <= first.from) {
    const low = Math.min(own * 1.2, first.to * 0.9);
    return low + (first.to - low) * (distance / first.from);
  }
  if (distance >= last.from) return last.to + (last.slope || 0.5 * last.to) * Math.log(distance / last.from);
  let low = 0, high = knots.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (knots[middle]!.from <= distance) low = middle; else high = middle;
  }
  const a = knots[low]!, b = knots[high]!;
  const width = Math.log(b.from / a.from), t = Math.log(distance / a.from) / width;
  const [t2, t3] = [t * t, t * t * t];
  return (2 * t3 - 3 * t2 + 1) * a.to + (t3 - 2 * t2 + t) * width * a.slope + (3 * t2 - 2 * t3) * b.to + (t3 - t2) * width * b.slope;
}

/** Where systems are: where their orbits or groups put them, drawn apart as far as they reach; else side by side. */
function anchorsOf(world: World, extent: Float64Array, scale: Scale) {
  const { bodies, roots } = world;
  const anchors = new Map<number, number[]>();
  const systems = roots.filter((index) => !bodies[index]!.star.roguePlanet);
  const p = new Float64Array(3);
  const places = systems.map((index) => {
    const body = bodies[index]!, at = body.group?.position;
    pointAtTime(body.orbit, 0, p);
    return [p[0]! + (at?.x ?? 0), p[1]! + (at?.y ?? 0), p[2]! + (at?.z ?? 0)];
  });
  const near = (a: number[], b: number[]) => Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!);
  const seen = new Set(places.map((place) => place.map((x) => x.toPrecision(6)).join()));
  if (seen.size < systems.length) {
    // A spiral with room for each.
    let turn = 0, used = 0;
    systems.forEach((index, number) => {
      const room = Math.max(extent[index]!, 0.1) * 1.25;
      const distance = number === 0 ? 0 : Math.sqrt(used / Math.PI) + room;
      used += Math.PI * room * room * 1.9;
      if (number === 0) used = Math.PI * room * room;
      turn += 2.399963;
      anchors.set(index, [distance * Math.cos(turn), 0, distance * Math.sin(turn)]);
    });
    return { anchors, factor: 1, spread: systems.length > 1 };
  }
  let factor = 1;
  if (scale === 'compact' && systems.length > 1) {
    factor = 0;
    const sample = Math.min(systems.length, 300);
    for (let a = 0; a < sample; a += 1) {
      for (let b = a + 1; b < sample; b += 1) {
        const room = (extent[systems[a]!]! + extent[systems[b]!]!) * 1.1;
        factor = Math.max(factor, room / near(places[a]!, places[b]!));
      }
    }
  }
  systems.forEach((index) => {
    const at = bodies[index]!.group?.position;
    if (at) anchors.set(index, [at.x * factor, at.y * factor, at.z * factor]);
  });
  return { anchors, factor: factor || 1, spread: false };
}

/** Where all bodies are at a time, three numbers each. */
export function placesAt(world: World, layout: Layout, time: number, out: Float64Array): void {
  for (const body of world.bodies) {
    const at = 3 * body.index;
    pointAtTime(body.orbit, time, out, at);
    if (body.parent < 0) {
      layout.root(body, out, at);
      continue;
    }
    layout.place(body.parent, out, at);
    const from = 3 * body.parent;
    out[at]! += out[from]!; out[at + 1]! += out[from + 1]!; out[at + 2]! += out[from + 2]!;
  }
}

/** An orbit as points relative to the parent's place, closed. */
export function orbitLine(body: Body, layout: Layout, segments: number): Float32Array {
  const line = new Float32Array(3 * (segments + 1)), p = new Float64Array(3);
  for (let step = 0; step <= segments; step += 1) {
    pointAtAngle(body.orbit, (2 * Math.PI * step) / segments, p, 0);
    if (body.parent >= 0) layout.place(body.parent, p, 0); else layout.root(body, p, 0);
    line.set(p, 3 * step);
  }
  return line;
}
