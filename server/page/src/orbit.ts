// Positions as a pure function of time: where a body is, relative to what it circles. No state, no clock. The page and the
// view in a conversation (`../../src/mcp/view`) are both made of this.
//
// With `elements` they follow from Kepler's equation. Without, the angle on an orbit grows evenly with time and the parent
// is at the centre of the ellipse, as the domain has it. The world is right-handed, and its north is −y.

export interface Point { x: number; y: number; z: number }

/** What of a body its orbit is made from; everything may be missing. */
export interface Orbiting {
  orbitalDistance?: number; orbitalSpeed?: number; orbitalPhase?: number;
  semiMajorAxis?: number; eccentricity?: number;
  orbitOffsetX?: number; orbitOffsetY?: number; orbitOffsetZ?: number;
  orbitRotX?: number; orbitRotY?: number; orbitRotZ?: number;
  roguePlanet?: Rogue;
  elements?: Elements | null;
  axialTilt?: number | null; axialNode?: number | null;
}

/** Degrees, seconds, rates in a Julian century. */
interface Angles {
  semiMajorAxis?: number; eccentricity?: number; inclination?: number; ascendingNode?: number;
  argumentOfPeriapsis?: number; meanAnomaly?: number; period?: number;
}
export interface Elements extends Angles {
  semiMajorAxis: number; period: number; epoch?: string | number; rates?: Angles; plane?: string;
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
  /** Elements, their time, and the pole of their plane: then all of the above is as of the time last looked at. */
  kepler?: { elements: Elements; epoch: number; tilt: number; node: number };
}

/** Two directions in which a disk lies. */
export type Disk = Pick<Orbit, 'ux' | 'uy' | 'uz' | 'vx' | 'vy' | 'vz'>;

const CENTURY = 36_525 * 86_400;

const DATE = /^([+-]\d{6}|\d{4})-?(\d\d)-?(\d\d)(?:[T ]([01]\d|2[0-3])(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?(Z|[+-]\d\d(?::?\d\d)?))?$/i;

/** A date as the server reads it: RFC 3339, also without its signs; a day alone begins at midnight, UTC. In milliseconds
 * since 1970, not a number for all else. Browsers read fewer forms, and others. */
export function readDate(text: unknown): number {
  const found = typeof text === 'string' ? DATE.exec(text) : null;
  if (!found) return NaN;
  const [, year, month, day, hour = '00', minute = '00', second = '00', part = '', zone = 'Z'] = found, offset = zone.replace(':', '');
  // Days that a month does not have would be taken for days of the next one; a leap second is the one before it.
  return new Date(`${year}-${month}-${day}`).getUTCDate() !== Number(day) ? NaN : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second === '60' ? '59' : second}.${part.slice(0, 3).padEnd(3, '0')}`
    + (/z/i.test(zone) ? 'Z' : `${offset.slice(0, 3)}:${offset.slice(3) || '00'}`));
}

/** The time of a date, in a universe whose time 0 has a date; else not a number. */
export const timeOf = (at: string | number, epoch: string | undefined): number =>
  (typeof at === 'number' ? at : (readDate(at) - readDate(epoch)) / 1000);

const RADIANS = Math.PI / 180;
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const finite = (value: number | null | undefined, otherwise = 0) => (isNumber(value) ? value : otherwise);

const ANGLES = ['semiMajorAxis', 'eccentricity', 'inclination', 'ascendingNode', 'argumentOfPeriapsis', 'meanAnomaly', 'period'] as const;
const numbers = (it: Angles) => ANGLES.every((name) => it[name] === undefined || isNumber(it[name]));

/** The elements of a body, if they are some: what does not fit is a member of another meaning, as for the server. */
export function elementsOf({ elements: it }: Orbiting): Elements | undefined {
  if (typeof it !== 'object' || !it || !numbers(it)) return undefined;
  const rates = it.rates ?? {}, epoch = it.epoch ?? 0;
  const dated = typeof epoch === 'string' ? !Number.isNaN(readDate(epoch)) : isNumber(epoch);
  const planar = it.plane === undefined || it.plane === 'ecliptic' || it.plane === 'parentEquator';
  return dated && planar && typeof rates === 'object' && numbers(rates) && it.semiMajorAxis > 0 && it.period > 0 ? it : undefined;
}

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

/** A direction in a plane whose z is north: turned by an inclination about x, then by a longitude. */
function tilted([x, y, z]: number[], inclination: number, node: number): number[] {
  let c = Math.cos(inclination * RADIANS), s = Math.sin(inclination * RADIANS);
  [y, z] = [y! * c - z! * s, y! * s + z! * c];
  c = Math.cos(node * RADIANS); s = Math.sin(node * RADIANS);
  return [x! * c - y * s, x! * s + y * c, z];
}

/** How the equator of a body lies, if it says. */
export function equatorOf({ axialTilt, axialNode }: Orbiting): Disk | undefined {
  if (typeof axialTilt !== 'number' && typeof axialNode !== 'number') return undefined;
  const [u, v] = [[1, 0, 0], [0, 1, 0]].map((it) => tilted(it, finite(axialTilt), finite(axialNode)));
  return { ux: u![0]!, uy: -u![2]!, uz: u![1]!, vx: v![0]!, vy: -v![2]!, vz: v![1]! };
}

/** Puts an orbit with elements as it lies at a time, and says its eccentric anomaly in radians. */
function lie(orbit: Orbit, time: number): number {
  const { elements, epoch, tilt, node } = orbit.kepler!;
  const rates = elements.rates ?? {}, elapsed = time - epoch, centuries = elapsed / CENTURY;
  const of = (name: keyof Angles) => finite(elements[name]) + finite(rates[name]) * centuries;
  const e = Math.min(Math.max(of('eccentricity'), 0), 0.999), a = Math.max(of('semiMajorAxis'), 0);
  const [u, v] = [0, 90].map((ahead) => {
    const angle = (of('argumentOfPeriapsis') + ahead) * RADIANS;
    const plane = tilted([Math.cos(angle), Math.sin(angle), 0], of('inclination'), of('ascendingNode'));
    return tilted(plane, tilt, node);
  });
  [orbit.ux, orbit.uy, orbit.uz] = [u![0]!, -u![2]!, u![1]!];
  [orbit.vx, orbit.vy, orbit.vz] = [v![0]!, -v![2]!, v![1]!];
  orbit.a = a;
  orbit.b = a * Math.sqrt(1 - e * e);
  orbit.cx = -a * e * orbit.ux; orbit.cy = -a * e * orbit.uy; orbit.cz = -a * e * orbit.uz;
  const turns = elapsed / elements.period, slower = (0.5 * turns * centuries * finite(rates.period)) / elements.period;
  return eccentric(of('meanAnomaly') * RADIANS + 2 * Math.PI * ((turns - slower) % 1), e);
}

/** Kepler's equation, by Newton's steps within what bisection knows. Radians. */
function eccentric(mean: number, e: number): number {
  mean -= 2 * Math.PI * Math.round(mean / (2 * Math.PI));
  let least = mean - e, most = mean + e, found = mean + e * Math.sin(mean);
  for (let step = 0; step < 64; step += 1) {
    const wrong = found - e * Math.sin(found) - mean;
    if (wrong > 0) most = found; else least = found;
    let next = found - wrong / (1 - e * Math.cos(found));
    if (next < least || next > most) next = (least + most) / 2;
    if (Math.abs(next - found) < 1e-15) break;
    found = next;
  }
  return found;
}

function keplerian(elements: Elements, parent: Orbiting | undefined, epoch: string | undefined, time: number): Orbit {
  const rates = elements.rates ?? {}, inEquator = elements.plane === 'parentEquator';
  const nodes = finite(elements.inclination) > 90 ? -finite(rates.ascendingNode) : finite(rates.ascendingNode);
  const turning = finite(rates.meanAnomaly) + finite(rates.argumentOfPeriapsis) + nodes;
  const orbit: Orbit = {
    ...ellipse(0, 0, {}, { x: 0, y: 0, z: 0 }, 360 / elements.period + turning / CENTURY, 0),
    kepler: {
      elements, epoch: finite(timeOf(elements.epoch ?? 0, epoch)),
      tilt: inEquator ? finite(parent?.axialTilt) : 0, node: inEquator ? finite(parent?.axialNode) : 0,
    },
  };
  lie(orbit, time);
  return orbit;
}

/** The orbit of a body about its parent, or the path of a rogue planet in space. */
export function orbitOf(body: Orbiting, parent?: Orbiting, universe?: { epoch?: string; time?: number }): Orbit {
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
  const elements = elementsOf(body);
  if (elements) return keplerian(elements, parent, universe?.epoch, finite(universe?.time));
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
  const angle = orbit.kepler ? lie(orbit, time) : (time * orbit.speed + orbit.phase) * RADIANS;
  pointAtAngle(orbit, angle, out, at);
}

/** How long a round takes, in seconds of simulation; infinite without motion. */
export const period = (orbit: Orbit) => (orbit.speed ? Math.abs(360 / orbit.speed) : Infinity);
