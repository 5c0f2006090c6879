// Positions as functions of time, against the values of the domain's reference; and what the page makes of commands by
// itself, against the golden cases of the reducer.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { VECTORS, equal, ok } from './harness.mjs';

const source = join(dirname(fileURLToPath(import.meta.url)), '../src');
/** A module of the page, on its own. */
export async function module(name) {
  const { outputFiles: [{ text }] } = await build({ entryPoints: [join(source, name)], bundle: true, format: 'esm', write: false });
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
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
  await layouts();
  await folding();
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
}
