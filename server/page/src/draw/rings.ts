// How much of a ring is seen across it: bright and faint parts, and gaps. From Saturn's own: C, B, Cassini's gap, A, Encke's.

import type { Ring } from '../model';
import { scatter } from '../random';

/** A part of a ring: from and to as parts of its width, and how dense it is. */
export interface Part { from: number; to: number; alpha: number }

const PARTS: [number, number, number, number][] = [
  [0, 0.11, 0.1, 1], [0.11, 0.36, 0.32, 5], [0.36, 0.725, 0.95, 7], [0.725, 0.79, 0.05, 1], [0.79, 0.945, 0.68, 4], [0.957, 1, 0.62, 1],
];
/** Rings are not changed but replaced. */
const known = new WeakMap<Ring, Part[]>(), profiles = new WeakMap<Ring, Float32Array>();

/** The parts of the ring of a body. Those of a narrow one are three. */
export function partsOf(id: string, ring: Ring): Part[] {
  let parts = known.get(ring);
  if (parts) return parts;
  const wide = ring.outerRadiusMultiplier > 1.25 * ring.innerRadiusMultiplier, random = scatter(id);
  parts = wide
    ? PARTS.flatMap(([from, to, alpha, many]) => Array.from({ length: many }, (_, n) => ({
      from: from + ((to - from) * n) / many, to: from + ((to - from) * (n + 1)) / many, alpha: alpha * (many > 1 ? 0.8 + 0.3 * random() : 1),
    })))
    : [{ from: 0, to: 0.25, alpha: 0.4 }, { from: 0.45, to: 0.6, alpha: 0.5 }, { from: 0.8, to: 1, alpha: 1 }];
  known.set(ring, parts);
  return parts;
}

/** How dense a ring is over all, 0 to 1. */
export const densityOf = (ring: Ring) => Math.min(1, (ring.opacity ?? 0.6) * (0.4 + 0.6 * (ring.density ?? 0.6)) * 1.3);

export const STEPS = 64;
/** The density at so many steps across. */
export function profileOf(id: string, ring: Ring): Float32Array {
  let profile = profiles.get(ring);
  if (profile) return profile;
  const parts = partsOf(id, ring), by = densityOf(ring);
  profile = Float32Array.from({ length: STEPS }, (_, n) => by * (parts.find(({ from, to }) => (n + 0.5) / STEPS >= from && (n + 0.5) / STEPS < to)?.alpha ?? 0));
  profiles.set(ring, profile);
  return profile;
}

/** The half angle that a ball's shadow covers of a circle of so many radii in its equator: radians, about the side away from
 * the light, whose direction has the equator's x, y and its north. */
export function shadeAt(r: number, [x, y]: readonly [number, number, number]): number {
  const least = Math.sqrt(Math.max(1 - 1 / (r * r), 0)), flat = Math.hypot(x, y);
  return least < flat ? Math.acos(least / flat) : 0;
}
