// Positions as a pure function of time: where a body is, relative to what it circles. No state, no clock.
//
// The angle on an orbit grows evenly with time and the parent is at the centre of the ellipse, as the domain has it.

export interface Point { x: number; y: number; z: number }

/** What of a body its orbit is made from; everything may be missing. */
export interface Orbiting {
  orbitalDistance?: number; orbitalSpeed?: number; orbitalPhase?: number;
  semiMajorAxis?: number; eccentricity?: number;
  orbitOffsetX?: number; orbitOffsetY?: number; orbitOffsetZ?: number;
  orbitRotX?: number; orbitRotY?: number; orbitRotZ?: number;
  roguePlanet?: Rogue;
}

/** The path of a rogue planet. */
export interface Rogue {
  seed?: string | number; initialPosition: Point; velocity: Point;
  pathCurvature?: number; semiMajorAxis?: number; eccentricity?: number; pathPeriod?: number;
  pathOffsetX?: number; pathOffsetY?: number; pathOffsetZ?: number;
  orbitRotX?: number; orbitRotY?: number; orbitRotZ?: number;
  colorOverride?: string; showTrajectory?: boolean;
  trajectoryPastWindow?: number; trajectoryFutureWindow?: number;
}

/** An orbit made ready: an ellipse in space, and how fast it is gone round. */
export interface Orbit {
  /** Half axes. */
  a: number; b: number;
  /** Degrees per second of simulation, and degrees at time 0. */
  speed: number; phase: number;
  /** The directions of the two axes, and the centre. */
  ux: number; uy: number; uz: number; vx: number; vy: number; vz: number;
  cx: number; cy: number; cz: number;
  /** A straight path instead: the way of one second. */
  line?: Point;
}

const RADIANS = Math.PI / 180;
const finite = (value: number | null | undefined, otherwise = 0) =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise;

/** Turns a point about Z, then Y, then X, by degrees. */
export function turned(p: Point, x: number, y: number, z: number): Point {
  let { x: px, y: py, z: pz } = p;
  let c = Math.cos(z * RADIANS), s = Math.sin(z * RADIANS);
  [px, py] = [px * c - py * s, px * s + py * c];
  c = Math.cos(y * RADIANS); s = Math.sin(y * RADIANS);
  [px, pz] = [px * c + pz * s, -px * s + pz * c];
  c = Math.cos(x * RADIANS); s = Math.sin(x * RADIANS);
  [py, pz] = [py * c - pz * s, py * s + pz * c];
  return { x: px, y: py, z: pz };
}

function ellipse(a: number, e: number, turns: { orbitRotX?: number; orbitRotY?: number; orbitRotZ?: number },
  centre: Point, speed: number, phase: number): Orbit {
  const b = a * Math.sqrt(1 - Math.min(Math.max(e, 0), 0.999999) ** 2);
  const [rx, ry, rz] = [finite(turns.orbitRotX), finite(turns.orbitRotY), finite(turns.orbitRotZ)];
  const u = turned({ x: 1, y: 0, z: 0 }, rx, ry, rz), v = turned({ x: 0, y: 0, z: 1 }, rx, ry, rz);
  return {
    a, b, speed, phase, ux: u.x, uy: u.y, uz: u.z, vx: v.x, vy: v.y, vz: v.z,
    cx: centre.x, cy: centre.y, cz: centre.z,
  };
}

/** The orbit of a body about its parent, or the path of a rogue planet in space. */
export function orbitOf(body: Orbiting): Orbit {
  const rogue = body.roguePlanet;
  if (rogue && rogue.initialPosition && rogue.velocity) {
    const from = rogue.initialPosition;
    if (!finite(rogue.pathCurvature)) {
      return { ...ellipse(0, 0, {}, from, 0, 0), line: rogue.velocity };
    }
    const a = finite(rogue.semiMajorAxis, 100);
    const period = finite(rogue.pathPeriod) || 5 * a;
    const centre = {
      x: from.x + finite(rogue.pathOffsetX), y: from.y + finite(rogue.pathOffsetY), z: from.z + finite(rogue.pathOffsetZ),
    };
    return ellipse(a, finite(rogue.eccentricity), rogue, centre, 360 / period, 0);
  }
  const a = finite(body.semiMajorAxis, finite(body.orbitalDistance));
  const centre = { x: finite(body.orbitOffsetX), y: finite(body.orbitOffsetY), z: finite(body.orbitOffsetZ) };
  return ellipse(a, finite(body.eccentricity), body, centre, finite(body.orbitalSpeed), finite(body.orbitalPhase));
}

/** The point at an angle in radians, into `out` from `at` on. */
export function pointAtAngle(orbit: Orbit, angle: number, out: Float64Array, at: number): void {
  const p = orbit.a * Math.cos(angle), q = orbit.b * Math.sin(angle);
  out[at] = orbit.ux * p + orbit.vx * q + orbit.cx;
  out[at + 1] = orbit.uy * p + orbit.vy * q + orbit.cy;
  out[at + 2] = orbit.uz * p + orbit.vz * q + orbit.cz;
}

/** Where a body is at a time, relative to its parent, into `out` from `at` on. */
export function pointAtTime(orbit: Orbit, time: number, out: Float64Array, at = 0): void {
  if (orbit.line) {
    out[at] = orbit.cx + orbit.line.x * time;
    out[at + 1] = orbit.cy + orbit.line.y * time;
    out[at + 2] = orbit.cz + orbit.line.z * time;
    return;
  }
  pointAtAngle(orbit, (time * orbit.speed + orbit.phase) * RADIANS, out, at);
}

/** How long a round takes, in seconds of simulation; infinite without motion. */
export const period = (orbit: Orbit) => (orbit.speed ? Math.abs(360 / orbit.speed) : Infinity);
