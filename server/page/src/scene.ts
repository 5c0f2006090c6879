// What there is to draw, made once for a world and a layout: lines, grains of belts, puffs of nebulae.

import { type Layout, orbitLine } from './layout';
import type { Body, Family, World } from './model';
import { type Orbit, pointAtTime } from './orbit';
import { scatter } from './random';

export type Rgb = [number, number, number];

/** The lines about one body, relative to its place; parent −1 is space. */
export interface Lines {
  parent: number;
  points: Float32Array;
  /** Where each begins, how many points it has, and whose it is. */
  parts: {
    start: number; count: number; body: Body; color: Rgb; reach: number; closed: boolean;
    /** The time at which it lies like this, and for how long that will do, in seconds of simulation. */
    asOf: number; lasts: number;
  }[];
  /** The furthest of them from the parent. */
  reach: number;
}

/** Lanes of a belt turn at speeds of their own. */
export const LANES = 8;

/** A belt or a disk as grains: x, y, z and lane, relative to the host, in a random order. */
export interface Grains {
  host: number; id: string; family: Family; grains: Float32Array; count: number;
  colors: [Rgb, Rgb]; opacity: number; inner: number; outer: number; isDisk: boolean;
  /** Degrees per second of each lane. */
  speeds: Float64Array;
}

export interface Puff { x: number; y: number; z: number; radius: number; color: Rgb; alpha: number; id: string }
export interface Scene {
  world: World; layout: Layout; lines: Lines[]; grains: Grains[]; puffs: Puff[];
  /** The colour of each body. */
  colors: Rgb[];
  /** Grows when lines change. */
  version: number;
}

const parsed = new Map<string, Rgb>();
let probe: CanvasRenderingContext2D | null = null;

/** A colour as CSS writes it; grey if it is none. */
export function rgb(text: string | undefined): Rgb {
  if (!text) return [150, 150, 160];
  let color = parsed.get(text);
  if (color) return color;
  let hex = text;
  if (!/^#[0-9a-f]{6}$/i.test(hex)) {
    probe ??= document.createElement('canvas').getContext('2d')!;
    probe.fillStyle = '#9696a0';
    probe.fillStyle = text;
    hex = String(probe.fillStyle);
  }
  const value = parseInt(hex.slice(1), 16);
  color = /^#[0-9a-f]{6}$/i.test(hex) ? [value >> 16, (value >> 8) & 255, value & 255] : [150, 150, 160];
  if (parsed.size > 5000) parsed.clear();
  parsed.set(text, color);
  return color;
}

/** A colour on the way from one to another. */
export const mix = (a: Rgb, b: Rgb, by: number): Rgb => [a[0] + (b[0] - a[0]) * by, a[1] + (b[1] - a[1]) * by, a[2] + (b[2] - a[2]) * by];

/** The most grains of one belt. */
const MAX_GRAINS = 60_000;

export function sceneOf(world: World, layout: Layout, byGroup: boolean, maxGrains: number, time: number): Scene {
  const colors = world.bodies.map((body) =>
    rgb((byGroup ? body.groupColor ?? '#8a8f98' : undefined) ?? body.star.roguePlanet?.colorOverride ?? body.star.color));
  return { world, layout, colors, version: 0, lines: linesOf(world, layout, colors, time), grains: grainsOf(world, layout, maxGrains), puffs: puffsOf(world, layout) };
}

/** How long an orbit that turns is drawn as it lay: until it has turned by half a degree. */
function lasting({ kepler }: Orbit): number {
  const { ascendingNode = 0, argumentOfPeriapsis = 0 } = kepler?.elements.rates ?? {};
  const fastest = Math.max(Math.abs(ascendingNode), Math.abs(argumentOfPeriapsis));
  return fastest ? (0.5 / fastest) * 36_525 * 86_400 : Infinity;
}

/** Puts orbits that turn as they lie now. */
export function refresh(scene: Scene, time: number): void {
  for (const { points, parts } of scene.lines) {
    for (const part of parts) {
      if (Math.abs(time - part.asOf) <= part.lasts) continue;
      points.set(orbitLine(part.body, scene.layout, part.count - 1), 3 * part.start);
      part.asOf = time;
      scene.version += 1;
    }
  }
}

function linesOf(world: World, layout: Layout, colors: Rgb[], time: number): Lines[] {
  const { bodies } = world;
  const segments = bodies.length > 3000 ? 48 : 128;
  const by = new Map<number, Body[]>();
  for (const body of bodies) {
    // Trojans share the orbit of their planet: a line of each would make a band.
    if (body.kind === 'lagrangePoint' || body.star.lagrangeHostId || (body.orbit.a <= 0 && !body.orbit.line)) continue;
    const list = by.get(body.parent);
    if (list) list.push(body); else by.set(body.parent, [body]);
  }
  const lines: Lines[] = [];
  const put = (parent: number, pieces: { line: Float32Array; body: Body; color: Rgb; closed: boolean }[]) => {
    const points = new Float32Array(pieces.reduce((sum, piece) => sum + piece.line.length, 0));
    let at = 0, reach = 0;
    const parts = pieces.map(({ line, body, color, closed }) => {
      points.set(line, at);
      let own = 0;
      for (let n = 0; n < line.length; n += 3) own = Math.max(own, Math.hypot(line[n]!, line[n + 1]!, line[n + 2]!));
      reach = Math.max(reach, own);
      const part = { start: at / 3, count: line.length / 3, body, color, reach: own, closed, asOf: time, lasts: closed && body.parent === parent ? lasting(body.orbit) : Infinity };
      at += line.length;
      return part;
    });
    lines.push({ parent, points, parts, reach });
  };
  for (const [parent, list] of by) {
    put(parent, list.map((body) => ({
      line: body.orbit.line ? trajectory(body, layout) : orbitLine(body, layout, body.orbit.b < 0.7 * body.orbit.a ? 3 * segments : segments),
      body, color: colors[body.index]!, closed: !body.orbit.line,
    })));
  }
  const groups = new Set(world.roots.map((root) => bodies[root]!.group?.id).filter(Boolean));
  if (groups.size > 1) {
    for (const root of world.roots) {
      const body = bodies[root]!;
      if (body.groupColor) put(root, [{ line: circle(layout.extent[root]! * 1.06), body, color: rgb(body.groupColor), closed: true }]);
    }
  }
  return lines;
}

function circle(radius: number): Float32Array {
  const line = new Float32Array(3 * 97);
  for (let step = 0; step <= 96; step += 1) {
    const angle = (2 * Math.PI * step) / 96;
    line.set([radius * Math.cos(angle), 0, radius * Math.sin(angle)], 3 * step);
  }
  return line;
}

/** The straight path of a rogue planet about the time of the universe. */
function trajectory(body: Body, layout: Layout): Float32Array {
  const rogue = body.star.roguePlanet!;
  const pace = Math.hypot(rogue.velocity.x, rogue.velocity.y, rogue.velocity.z) || 1;
  const span = (0.3 * Math.min(layout.reach / layout.space(layout.reach), 1e9)) / pace;
  const past = rogue.trajectoryPastWindow ?? span, future = rogue.trajectoryFutureWindow ?? span;
  const line = new Float32Array(3 * 33), p = new Float64Array(3);
  for (let step = 0; step <= 32; step += 1) {
    pointAtTime(body.orbit, -past + ((past + future) * step) / 32, p);
    layout.root(body, p, 0);
    line.set(p, 3 * step);
  }
  return line;
}

function grainsOf(world: World, layout: Layout, maxGrains: number): Grains[] {
  const shown = world.matter.filter(({ it }) => it.visible !== false && it.outerRadius > 0);
  const asked = shown.reduce((sum, { it }) => sum + Math.min(Math.max(it.particleCount || 0, 200), MAX_GRAINS), 0);
  const share = Math.min(1, maxGrains / Math.max(asked, 1));
  return shown.map(({ it, family, host, speed }) => {
    const isDisk = family === 'protoplanetaryDisks';
    const count = Math.max(50, Math.round(Math.min(Math.max(it.particleCount || 0, 200), MAX_GRAINS) * share));
    const inner = layout.stretch(host.index, it.innerRadius), outer = layout.stretch(host.index, it.outerRadius);
    const high = Math.min((it.thickness || 0) * 0.5 * (outer / it.outerRadius), (outer - inner) * 0.6);
    const random = scatter(it.seed ?? it.id);
    const grains = new Float32Array(4 * count), speeds = new Float64Array(LANES);
    for (let n = 0; n < count; n += 1) {
      const spread = isDisk ? random() ** 1.6 : (random() + random()) / 2;
      const lane = Math.min(LANES - 1, Math.floor(spread * LANES));
      const r = inner + (outer - inner) * spread, angle = 2 * Math.PI * random();
      const y = high * (random() + random() + random() - 1.5) * (isDisk ? 0.4 + spread : 1);
      grains.set([r * Math.cos(angle), y, r * Math.sin(angle), lane], 4 * n);
    }
    const middle = (it.innerRadius + it.outerRadius) / 2;
    for (let lane = 0; lane < LANES; lane += 1) {
      const r = it.innerRadius + ((it.outerRadius - it.innerRadius) * (lane + 0.5)) / LANES;
      speeds[lane] = speed * (middle / Math.max(r, 1e-12)) ** 1.5;
    }
    return {
      host: host.index, id: it.id, family, grains, count, isDisk, inner, outer, speeds,
      colors: [rgb(it.baseColor), rgb(it.highlightColor)], opacity: Math.min(Math.max(it.opacity ?? 0.6, 0.05), 1),
    };
  });
}

function puffsOf(world: World, layout: Layout): Puff[] {
  const puffs: Puff[] = [];
  for (const id in world.state.nebulae ?? {}) {
    const it = world.state.nebulae[id]!;
    if (it.visible === false || !it.position) continue;
    const { x, y, z } = it.position;
    const factor = layout.space(Math.hypot(x, y, z));
    const size = it.radius * Math.min(factor, layout.space(it.radius));
    const random = scatter(it.seed ?? id);
    const alpha = Math.min(0.5, 0.1 + 0.3 * (it.density ?? 0.5) * (it.brightness ?? 0.5));
    for (let n = 0; n < 9; n += 1) {
      const away = n === 0 ? 0 : size * 0.55;
      puffs.push({
        x: x * factor + away * (2 * random() - 1), y: y * factor + away * (2 * random() - 1) * 0.6,
        z: z * factor + away * (2 * random() - 1), radius: size * (n === 0 ? 1 : 0.35 + 0.4 * random()),
        color: rgb(n % 2 ? it.accentColor : it.baseColor), alpha: n === 0 ? alpha : alpha * 0.7, id,
      });
    }
  }
  return puffs;
}
