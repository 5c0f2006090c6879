// Modules of the page without a browser: what is very large, and what has to happen between two answers of the server.

import { Server, equal, ok, until } from './harness.mjs';
import { module } from './positions.mjs';

export default async function apart() {
  await large();
  await texts();
  const server = await Server.start('--demo');
  const ask = globalThis.fetch;
  // A page at the server's address, as far as these modules look at one.
  Object.assign(globalThis, {
    window: globalThis, document: { documentElement: { dataset: {} } }, location: { hash: '', pathname: '/' }, history: { pushState() {} },
    matchMedia: () => ({ matches: true, addEventListener() {} }),
  });
  /** What is done before a request is sent, by its method and path. */
  const before = new Map(), feeds = [];
  globalThis.fetch = async (path, options) => {
    // What the test itself asks has a whole address.
    if (!path.startsWith('/')) return ask(path, options);
    const key = `${options.method ?? 'GET'} ${path}`, first = before.get(key);
    before.delete(key);
    await first?.();
    if (path.endsWith('/events')) feeds.push(options.signal);
    return ask(server.url + path, options);
  };
  try {
    const app = await module('app.ts');
    await undoes(server, app, before);
    await opensTheLast(server, app, before, feeds);
    app.close();
  } finally {
    globalThis.fetch = ask;
  }
}

/** More than the arguments that a call may have, deeper than a stack, and more belts than can be compared in pairs. */
async function large() {
  const [{ worldOf }, { rowsOf }] = [await module('model.ts'), await module('rows.ts')];
  const moons = Array.from({ length: 150_000 }, (_, n) => `m${n}`);
  const star = (id, parentId, children) => ({ id, name: id, color: '#fff', mass: 1, radius: 1, children, parentId, orbitalDistance: 1, orbitalSpeed: 1, orbitalPhase: 0 });
  const belt = (id, hostStarId) => ({ id, hostStarId, innerRadius: 1, outerRadius: 2, thickness: 0, particleCount: 1, baseColor: '#fff' });
  const keyed = (list) => Object.fromEntries(list.map((it) => [it.id, it]));
  const deep = 20_000;
  const groups = Array.from({ length: deep }, (_, n) => ({
    id: `g${n}`, name: `g${n}`, color: `#${n}`, parentGroupId: n ? `g${n - 1}` : null,
    children: [{ id: `g${n + 1}`, type: 'group' }, { id: 'sun', type: 'system' }],
  }));
  const world = worldOf({
    stars: keyed([star('sun', null, moons), ...moons.map((id) => star(id, 'sun', []))]), rootIds: ['sun'],
    groups: keyed(groups), rootGroupIds: ['g0'], belts: {}, protoplanetaryDisks: {}, nebulae: {}, time: 0,
    smallBodyFields: keyed(Array.from({ length: 2 * deep }, (_, n) => belt(`b${n}`, n % 2 ? 'sun' : 'nothing'))),
  });
  equal(world.byId.get('m149999').groupColor, `#${deep - 1}`, 'what circles a body is in its group');
  // Each group has its row and one of the sun, which is shut: roots are open only where they are few.
  const rows = rowsOf(world, new Set(['stars/sun']));
  equal(rows.length, 2 * deep + deep, 'every group, what is in it, and every belt that circles nothing');
  equal([rows[deep - 1].ref.id, rows[deep - 1].level], [`g${deep - 1}`, deep], 'groups lie in each other');
  equal(rows.find((row) => row.ref.id === 'sun').count, moons.length + deep, 'all that is about a body is counted');
}

async function texts() {
  const [{ seedOf }, { pathOf }] = [await module('seed.ts'), await module('api.ts')];
  for (const text of ['', '007', '+5', '-1', '1.0', '1e3', ' 42', '4294967296', '99999999999', 'page']) equal(seedOf(text), text, 'a text stays a text');
  for (const number of [0, 42, 4294967295]) equal(seedOf(String(number)), number, 'digits alone are a number');
  equal(pathOf('a/b.svg'), '/universes/a%2Fb%2Esvg', 'an id is not a name of a picture');
}

/** Undo takes back one's own command, and nothing that others did. */
async function undoes(server, app, before) {
  const undo = () => app.toasts.value.at(-1).action.run();
  const mass = async () => (await server.state('sol')).stars.venus.mass;
  const others = (to) => server.command('sol', { type: 'updateStar', id: 'venus', payload: { mass: to } });
  await app.openUniverse('sol');
  before.set('POST /universes/sol/commands?result=events', () => others(7));
  await app.command({ type: 'removeStar', id: 'mercury' }, 'Mercury is removed.');
  ok(!(await server.state('sol')).stars.mercury, 'a body is removed');
  undo();
  await until(async () => (await server.state('sol')).stars.mercury, 'and is back');
  equal(await mass(), 7, 'what another did just before it stays');
  await until(() => app.toasts.value.at(-1).action.label === 'Redo', 'it can be done again');
  undo();
  await until(async () => !(await server.state('sol')).stars.mercury, 'and is gone again');
  await until(() => app.toasts.value.at(-1).action.label === 'Redo', 'that, too');
  await others(8);
  undo();
  await until(() => app.toasts.value.at(-1).bad, 'once others went on, the server refuses it');
  equal(await mass(), 8, 'and what they did stays');
}

/** Of two universes that are opened at once the last is shown, and it alone is followed. */
async function opensTheLast(server, app, before, feeds) {
  const make = async (name) => (await server.ask('POST', '/universes', { name, state: {} })).id;
  const [one, other] = [await make('One'), await make('Other')];
  let go = () => {};
  before.set(`GET /universes/${one}`, () => new Promise((resume) => { go = resume; }));
  app.say('Done.', false, { label: 'Undo', run() {} });
  const first = app.openUniverse(one);
  await app.openUniverse(other);
  go();
  await first;
  equal(app.open.value.id, other, 'the last is open');
  ok(!app.toasts.value.some((it) => it.action), 'and offers no undo of another');
  await until(() => app.link.value === 'live', 'and followed');
  equal(feeds.filter((signal) => !signal.aborted).length, 1, 'and no other');
}
