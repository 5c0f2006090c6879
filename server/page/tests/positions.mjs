// Positions as functions of time, against the values of the domain's reference; and what the page makes of commands by
// itself, against the golden cases of the reducer.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { VECTORS, VIEW, equal, ok } from './harness.mjs';

const source = join(dirname(fileURLToPath(import.meta.url)), '../src');
/** A module of the page, on its own. */
export async function module(name) {
  const { outputFiles: [{ text }] } = await build({ entryPoints: [join(source, name)], bundle: true, format: 'esm', write: false });
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
}

/** By an independent computation. */
const KEPLER = [0.6925155237740896, 2.5661732922389464, -0.2821312423523831];

/** Where the view of MCP Apps puts a body, from its own script. */
function viewed(star, state, time) {
  const page = readFileSync(VIEW ?? join(source, '../../src/mcp/view/view.html'), 'utf8');
  const script = page.slice(page.indexOf('// ---- places'), page.indexOf('// ---- the chart'));
  return new Function('star', 'state', 'time', `const TAU = 2 * Math.PI; ${script} return placeNow(star);`)(star, state, time);
}

export default async function positions() {
  const { orbitOf, pointAtTime } = await module('orbit.ts');
  const at = (body, time) => { const p = new Float64Array(3); pointAtTime(orbitOf(body), time, p); return [...p]; };
  const near = (actual, expected, what) => ok(actual.every((x, n) => Math.abs(x - expected[n]) < 1e-11), `${what}: ${actual}, expected ${expected}`);
  const round = { orbitalDistance: 10, orbitalSpeed: 2, orbitalPhase: 0 };
  const long = { semiMajorAxis: 51, orbitalDistance: 1, eccentricity: 0.2, orbitalSpeed: 1.5, orbitalPhase: 30 };
  const turned = { orbitRotX: 10, orbitRotY: 20, orbitRotZ: 30, orbitOffsetX: 1, orbitOffsetY: 2, orbitOffsetZ: 3 };
  near(at(round, 45), [0, 0, 10], 'a circle');
  near(at(long, 12.5), [33.626636570103514, 0, 37.56912749137101], 'an ellipse');
  near(at({ ...long, ...turned }, 12.5), [41.214677241547335, 14.157070960077156, 30.877865547967186], 'an ellipse that is turned and moved');
  const rogue = { initialPosition: { x: 1, y: 2, z: 3 }, velocity: { x: 0.1, y: 0, z: -0.2 } };
  near(at({ roguePlanet: rogue }, 10), [2, 2, 1], 'a straight path');
  const bent = { ...rogue, pathCurvature: 0.5, semiMajorAxis: 100, eccentricity: 0.3, pathPeriod: 400, orbitRotX: 15 };
  near(at({ roguePlanet: bent }, 50), [71.71067811865476, -15.458299069222122, 68.1552591400694], 'a bent path');
  near(at(long, 12.5 + 360 / 1.5), at(long, 12.5), 'a whole round later');
  const dated = { elements: { semiMajorAxis: 2, period: 400, eccentricity: 0.5, inclination: 60, ascendingNode: 30,
    argumentOfPeriapsis: 40, meanAnomaly: 50, epoch: '2000-01-01T12:01:40Z', rates: { ascendingNode: 1e8 }, plane: 'parentEquator' } };
  const kepler = orbitOf(dated, { axialTilt: 20, axialNode: 70 }, { epoch: '2000-01-01T12:00:00Z' });
  const p = new Float64Array(3);
  pointAtTime(kepler, 321, p);
  near([...p], KEPLER, 'Kepler in the equator of its parent');
  const [x, y] = viewed({ ...dated, parentId: 'p' }, { stars: { p: { axialTilt: 20, axialNode: 70 } }, epoch: '2000-01-01T12:00:00Z' }, 321);
  near([x, y], [KEPLER[0], -KEPLER[2]], 'the view in a conversation, from north');
  // What fits no orbit is a member of another meaning: the original's members hold, in the view as on the page.
  for (const wrong of [{ semiMajorAxis: -1, period: 4 }, { semiMajorAxis: 1, period: 0 }, { semiMajorAxis: 1 }, { semiMajorAxis: 1, period: 'a year' },
    { semiMajorAxis: 1, period: 4, rates: { period: 'x' } }, { semiMajorAxis: 1, period: 4, epoch: 'spring' }, { semiMajorAxis: 1, period: 4, plane: 'mine' }, 'round', 7]) {
    const body = { ...round, elements: wrong };
    near(at(body, 45), [0, 0, 10], `no elements: ${JSON.stringify(wrong)}`);
    near(viewed(body, {}, 45), [0, -10], 'nor for the view');
  }
  // Rates that lead an axis below nothing end in the middle, in both.
  const shrinking = { elements: { semiMajorAxis: 1, period: 400, rates: { semiMajorAxis: -3_155_760_000 } } };
  near(at(shrinking, 5), [0, 0, 0], 'an axis is not negative');
  near(viewed(shrinking, {}, 5), [0, 0], 'nor for the view');
  await direction();
  await layouts();
  await folding();
}

/** Seen from north, and as the page opens, bodies go counter-clockwise. */
async function direction() {
  const [{ Camera }, { orbitOf, pointAtTime }] = [await module('camera.ts'), await module('orbit.ts')];
  const circle = { orbitalDistance: 1, orbitalSpeed: 1 }, elements = { elements: { semiMajorAxis: 1, period: 360 } };
  for (const body of [circle, elements]) {
    const [ax, ay] = viewed(body, {}, 0), [bx, by] = viewed(body, {}, 5);
    ok(ax * by - ay * bx < 0, 'the view goes counter-clockwise');
    for (const pitch of [new Camera().pitch, 1.5]) {
      const camera = new Camera();
      camera.pitch = pitch;
      [camera.width, camera.height] = [800, 600];
      camera.update();
      const orbit = orbitOf(body), p = new Float64Array(3), screen = [];
      for (const time of [0, 5, 10]) {
        const out = new Float64Array(3);
        pointAtTime(orbit, time, p);
        ok(camera.project(...p, out), 'it is in front of the eye');
        screen.push([...out]);
      }
      const [[ax, ay], [bx, by], [cx, cy]] = screen;
      // y grows downwards.
      ok((bx - ax) * (cy - by) - (by - ay) * (cx - bx) < 0, `counter-clockwise at pitch ${pitch}`);
    }
  }
}

/** Compact scale keeps the order of distances, and paths have no jump. */
async function layouts() {
  const [{ worldOf }, { layoutOf, placesAt }] = [await module('model.ts'), await module('layout.ts')];
  const star = (id, parentId, children, distance) => ({
    id, name: id, color: '#fff', mass: 1, radius: 1, children, parentId, orbitalDistance: distance, orbitalSpeed: 1, orbitalPhase: 0,
  });
  const planets = Array.from({ length: 30 }, (_, n) => star(`p${n}`, 'sun', n === 5 ? ['m'] : [], 0.001 * 2 ** n));
  const state = {
    stars: Object.fromEntries([star('sun', null, planets.map(({ id }) => id), 0), ...planets, star('m', 'p5', [], 1e-6)].map((it) => [it.id, it])),
    rootIds: ['sun'], groups: {}, rootGroupIds: [], belts: {}, smallBodyFields: {}, protoplanetaryDisks: {}, nebulae: {}, time: 0,
  };
  const world = worldOf(state), layout = layoutOf(world, 'compact');
  let last = 0;
  for (let n = 0; n < 4000; n += 1) {
    const now = layout.stretch(0, 1e-6 * 1.008 ** n);
    ok(now > last, 'what is further away is drawn further away');
    last = now;
  }
  const places = new Float64Array(3 * world.bodies.length);
  placesAt(world, layoutOf(world, 'true'), 0, places);
  const moon = world.byId.get('m').index;
  ok(Math.abs(places[3 * moon] - (0.032 + 1e-6)) < 1e-15, 'true distances add up along the parents');
}

async function folding() {
  const { fold } = await module('fold.ts');
  const path = VECTORS ?? join(source, '../../../universe-core/tests/vectors/reducer.jsonl');
  let count = 0;
  for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
    const golden = JSON.parse(line);
    if (golden.class !== 'conform' || !golden.command || !golden.state) continue;
    const folded = fold(golden.state, golden.command);
    if (!folded) continue;
    equal(JSON.parse(JSON.stringify(folded)), golden.nextState, golden.name);
    count += 1;
  }
  ok(count >= 20, `golden cases that are folded: ${count}`);
  // Dates without their signs, which browsers do not take.
  const epoch = '2000-01-01T12:00:00Z', until = (date) => fold({ epoch, time: 5 }, { type: 'tick', until: date });
  equal([until('2000-01-01T12:01:00Z').time, until(7).time, until('20000101T120100Z').time, until('soon')], [60, 7, 60, null], 'a tick to a date');
}
