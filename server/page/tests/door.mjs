// What a visitor meets first: the solar system of today, a command to try, links, pictures, surfaces, words.

import { Server, browse, drawn, equal, ok, stage, until } from './harness.mjs';
import { module } from './positions.mjs';

const DAY = 86_400, J2000 = Date.UTC(2000, 0, 1, 12) / 1000;

export default async function door() {
  await dates();
  await begins();
  const server = await Server.start('--demo');
  await sameDates(server);
  await opensToday(server);
  await moves(server);
  await triesIt(server);
  await links(server);
  await looksNear(server);
  await tellsItsOwn(server);
  await shares(server);
  await lists(server);
}

/** What is read as a time, and what is refused. */
async function dates() {
  const { dateOf, readTime, stampOf } = await module('dates.ts');
  const epoch = J2000 * 1000, at = (text) => readTime(text, epoch, epoch + 5000);
  for (const [text, days] of [['2000-01-01', -0.5], ['2000-01-02 12:00', 1], ['2000-01-02T12:00:00Z', 1], ['2000-01-02 14:00 +02:00', 1], ['2000', -0.5], ['2000-3-1', 59.5]]) {
    equal(at(text), days * DAY, text);
  }
  equal([at('now'), at(' Today '), at('86400 s'), at('-3s')], [5, 5, 86400, -3], 'now, and seconds');
  for (const wrong of ['abc', '2026-02-30', '2026-13-01', '27.11.2026', '', 'abc 1']) ok(typeof at(wrong) === 'string', `refused: ${wrong}`);
  equal([readTime('12.5', null), typeof readTime('2026-11-27', null)], [12.5, 'string'], 'without an epoch there are seconds alone');
  equal([dateOf(DAY, epoch), dateOf(1e15, epoch), stampOf(1.2, epoch), stampOf(1.2, null)], ['2000-01-02 12:00', null, '2000-01-01T12:00:01Z', '1.2'], 'and back');
}

/** What the server takes as a date, the page takes as the same. */
async function sameDates(server) {
  const { epochOf, readTime } = await module('dates.ts'), epoch = J2000 * 1000;
  for (const text of ['2026-11-27', '2026-11-27T06:30:15Z', '2026-11-27t06:30:15z', '2026-11-27 06:30:15Z', '2026-11-27T06:30Z', '2026-11-27T06Z', '20261127T063015Z',
    '2026-11-27T063015Z', '2026-11-27T06:30:15.125Z', '2026-11-27T06:30:15,5Z', '2026-11-27T06:30:15.123456789Z', '2026-11-27T06:30+05:30', '2026-11-27T06:30+0530',
    '2026-11-27T06:30-05', '+002026-11-27T00:00:00Z', '-000044-03-15T12:00:00Z', '0044-03-15T12:00:00Z', '2016-12-31T23:59:60Z', '2028-02-29', '2026-02-30', '2026-13-01',
    '2026-11-27T24:00:00Z', '2026-11-27T06:61Z', '27.11.2026', 'Nov 27 2026', '2026/11/27']) {
    const response = await fetch(`${server.url}/universes/sol/places?bodies=sun&at=${encodeURIComponent(text)}`), { time } = await response.json();
    const read = readTime(text, epoch);
    if (!response.ok) { ok(typeof read === 'string', `refused by both: ${text}`); continue; }
    ok(Math.abs(read - time) < 0.0011, `${text}: ${read}, and ${time} for the server`);
    ok(Math.abs((epochOf(text) - epoch) / 1000 - time) < 0.0011, `${text} as an epoch`);
  }
}

/** A universe opens with today, unless somebody moved it. */
async function begins() {
  const clock = await module('clock.ts'), createdAt = '2026-11-20T00:00:00Z', made = Date.parse(createdAt) / 1000 - J2000;
  for (const [time, isToday] of [[0, true], [made, true], [made - 20, true], [made - 3600, false], [made + DAY, false]]) {
    clock.begin({ state: { epoch: new Date(J2000 * 1000).toISOString(), time }, createdAt }, null, !isToday);
    equal([clock.unasked, clock.shown.value !== time, clock.playing.value], [isToday, isToday, isToday], `${time - made} s from the moment at which it was made`);
  }
  clock.begin({ state: { time: 0 }, createdAt }, null, false);
  equal([clock.unasked, clock.shown.value], [false, 0], 'without dates there is no today');
}

const button = (page, name) => page.getByRole('button', { name, exact: true });
const says = (page, text) => page.locator('.toast', { hasText: text }).first();
const time = async (page) => Number((await stage(page)).time);

/** The plain address shows the demo as it is today; whoever asks for calm gets it. */
async function opensToday(server) {
  const { page, browser, faults } = await browse(server.url);
  await page.getByRole('heading', { level: 1, name: 'Sol' }).waitFor();
  await drawn(page);
  ok(Math.abs(J2000 + await time(page) - Date.now() / 1000) < 120, 'it is today');
  ok((await page.getByLabel('Date and time').inputValue()).startsWith(new Date().toISOString().slice(0, 8)), 'and the date says so');
  equal(await button(page, 'Play').count(), 1, 'with reduced motion nothing moves by itself');
  const [before, frames] = [await time(page), (await stage(page)).frames];
  await page.waitForTimeout(700);
  equal([await time(page), (await stage(page)).frames], [before, frames], 'and nothing is drawn');
  equal((await server.ask('GET', '/universes/sol')).revision, 0, 'looking changes nothing');
  // Refused input says so and stays to be mended.
  const date = page.getByLabel('Date and time');
  await date.fill('soon');
  await page.keyboard.press('Enter');
  await says(page, '“soon” is no date.').waitFor();
  equal([await date.inputValue(), await date.getAttribute('aria-invalid')], ['soon', 'true'], 'what was typed stays');
  await date.fill('2061-07-28');
  await page.keyboard.press('Enter');
  await until(async () => await date.inputValue() === '2061-07-28 00:00', 'a date is shown');
  await button(page, 'Now').click();
  await until(async () => Math.abs(J2000 + await time(page) - Date.now() / 1000) < 120, 'now is today again');
  equal(faults, [], 'nothing goes wrong');
  await browser.close();
}

/** Without that wish it moves slowly; play and pause move nothing else; the universe's time is followed once somebody moves it. */
async function moves(server) {
  const { page, browser } = await browse(server.url, { calm: false });
  await drawn(page);
  const begun = await time(page);
  await until(async () => await time(page) > begun, 'it moves');
  equal(await page.locator('.speed output').textContent(), '1 day/s', 'slowly');
  const size = () => page.locator('.canvas').boundingBox();
  const before = await size();
  await page.locator('.tree').focus();
  await page.keyboard.press(' ');
  await button(page, 'Play').waitFor();
  equal(await size(), before, 'pausing changes no size');
  await page.getByRole('treeitem', { name: /Mars/ }).click();
  await page.keyboard.press(' ');
  await button(page, 'Pause').waitFor();
  equal(await size(), before, 'nor does playing, nor what the list has in focus');
  await browser.close();
  const other = await browse(server.url, { calm: false });
  await drawn(other.page);
  await server.tool('sol', { type: 'tick', until: '2027-01-01T00:00:00Z' });
  await until(async () => await time(other.page) === Date.UTC(2027, 0, 1) / 1000 - J2000, 'who chose no time sees it when a model moves the universe');
  await server.ask('POST', '/universes/sol/undo', { revision: 0 });
  await other.browser.close();
}

/** The three ways do the same. */
async function triesIt(server) {
  const { page, browser } = await browse(server.url);
  await drawn(page);
  await page.getByRole('button', { name: /Try it/ }).click();
  const way = (title) => page.getByLabel(title, { exact: true }).textContent();
  const ring = async () => (await server.state('sol')).stars.neptune.ring;
  const command = JSON.parse(await way('The command'));
  const wanted = { ...command.patch };
  const isThere = async () => { const made = await ring(); return !!made && Object.entries(wanted).every(([name, value]) => made[name] === value); };
  const gone = async () => { await server.command('sol', { type: 'removeRing', planetId: 'neptune' }); equal(await ring(), undefined, 'and away'); };
  await button(page, 'Do it').click();
  await until(isThere, 'the button gives Neptune a ring');
  await page.locator('.selection h2', { hasText: 'Neptune' }).waitFor();
  await button(page, 'Take it away').click();
  await until(async () => !await ring(), 'and takes it away');
  const rest = await way('From a program: REST');
  const [, url, body] = /^curl (\S+)[^]*-d '(.*)'$/.exec(rest);
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  ok(answer.ok && await isThere(), 'the call of REST that is shown does the same');
  await gone();
  const { method, params } = JSON.parse(await way('From an AI: MCP'));
  equal([method, params.name], ['tools/call', 'send_universe_command'], 'the call of MCP');
  await server.tool(params.arguments.universeId, params.arguments.command);
  ok(await isThere(), 'does the same');
  await page.getByLabel('The command', { exact: true }).waitFor();
  await gone();
  await button(page, 'Close').click();
  await page.getByRole('button', { name: /Try it/ }).waitFor();
  await browser.close();
}

/** A link has the universe, the body, the time and the view. */
async function links(server) {
  const { page, context, browser } = await browse(`${server.url}/#sol?body=saturn&at=2026-11-27T06:00:00Z`);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('.selection h2', { hasText: 'Saturn' }).waitFor();
  await until(async () => await page.getByLabel('Date and time').inputValue() === '2026-11-27 06:00', 'the time of the link');
  await page.locator('.canvas').focus();
  await page.keyboard.press('s');
  await page.keyboard.press('g');
  await page.keyboard.press('ArrowLeft');
  await button(page, 'Copy a link to what is seen').click();
  await says(page, 'The link is copied').waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  for (const part of ['#sol?', 'body=saturn', 'at=2026-11-27T06:00:00Z', 'view=']) ok(link.includes(part), `${link} has ${part}`);
  const { distance } = await stage(page);
  const second = await context.newPage();
  await second.goto(link);
  await second.locator('.selection h2', { hasText: 'Saturn' }).waitFor();
  await until(async () => Math.abs(Number((await stage(second)).distance) / Number(distance) - 1) < 0.001, 'the view is the same');
  equal(await time(second), await time(page), 'and the time');
  await second.getByText('True distances').waitFor();
  // Also for somebody whose browser has another scale.
  const friend = await browse(link);
  await friend.page.getByText('True distances').waitFor();
  await until(async () => Math.abs(Number((await stage(friend.page)).distance) / Number(distance) - 1) < 0.001, 'others see the same');
  await friend.browser.close();
  // The address follows what is seen, once it rests.
  await second.getByRole('treeitem', { name: '› Jupiter' }).click();
  await until(async () => second.url().includes('body=jupiter'), 'the address follows');
  // The scale is a part of the view, also where all is shown.
  await page.goto(`${server.url}/#sol?view=true`);
  await page.getByText('True distances').waitFor();
  await page.locator('.canvas').focus();
  await page.keyboard.press('0');
  await until(async () => page.url().includes('view='), 'the address has the scale');
  const whole = page.url();
  await page.keyboard.press('s');
  await page.getByText('Compact scale').waitFor();
  await until(async () => !page.url().includes('true'), 'or not');
  await page.goto(whole);
  await page.getByText('True distances').waitFor();
  ok(Number((await stage(page)).distance) > 10, 'and all is seen');
  // A link that is wrong says so.
  await second.goto(`${server.url}/#sol?body=vulcan&view=near`);
  await says(second, 'no body “vulcan”').waitFor();
  await says(second, 'a view that cannot be read').waitFor();
  await browser.close();
}

/** From near there are discs of true size with surfaces, and the wheel does not lead into a body. */
async function looksNear(server) {
  for (const gl of [false, true]) {
    const { page, browser, faults } = await browse(`${server.url}/${gl ? '?draw=webgl' : ''}#sol?body=jupiter&at=2026-11-27&view=0.6,0.5,0.005,true`, { gl, width: 1100, height: 700 });
    await drawn(page);
    equal((await stage(page)).renderer, gl ? 'webgl2' : 'canvas', 'the renderer');
    const box = await page.locator('.canvas').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    let last = 0;
    await until(async () => {
      const before = last;
      for (let n = 0; n < 10; n += 1) await page.mouse.wheel(0, -120);
      last = Number((await stage(page)).distance);
      return last === before;
    }, 'the wheel has a nearest distance');
    const radius = 69_911 / 149_597_870.7;
    ok(last > 2 * radius && last < 2.5 * radius, `which is about the size of the body: ${last / radius}`);
    // Colours down the middle of the disc: bands.
    const colours = await page.evaluate(async (bytes) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(bytes), (it) => it.charCodeAt(0))]));
      const canvas = new OffscreenCanvas(image.width, image.height), c = canvas.getContext('2d');
      c.drawImage(image, 0, 0);
      return Array.from({ length: 160 }, (_, n) => [...c.getImageData(image.width / 2 - 120, image.height * (0.06 + n / 180), 1, 1).data].slice(0, 3).reduce((a, b) => a + b));
    }, (await page.locator('.canvas').screenshot()).toString('base64'));
    // From light to dark and back by a good step each: a plain ball does so once.
    let turns = 0, extreme = colours[0], way = 0;
    for (const it of colours) {
      if (way * (it - extreme) >= 0 && way) extreme = it;
      else if (Math.abs(it - extreme) > 12) { way = Math.sign(it - extreme); extreme = it; turns += 1; }
    }
    ok(turns >= 5, `its bands are seen: ${turns} changes`);
    equal(faults, [], 'nothing goes wrong');
    await browser.close();
  }
  await manyDiscs(server);
  await fineLines(server);
  await surfaces();
  await turning(server);
}

/** However many discs are seen, their surfaces are made, and then nothing is drawn any more. */
async function manyDiscs(server) {
  const ids = Array.from({ length: 150 }, (_, n) => `p${n}`);
  const stars = Object.fromEntries(ids.map((id) => [id, { id, name: id, color: 'teal', mass: 1, radius: 1, children: [], parentId: null, bodyType: 'planet', orbitalDistance: 0, orbitalSpeed: 0, orbitalPhase: 0 }]));
  const { id } = await server.ask('POST', '/universes', { name: 'Many', state: { stars, rootIds: ids } });
  const { page, browser } = await browse(`${server.url}/#${id}`);
  await drawn(page);
  let last = -1, since = Date.now();
  await until(async () => {
    const { frames } = await stage(page);
    if (frames !== last) [last, since] = [frames, Date.now()];
    return Date.now() - since > 1500;
  }, 'it comes to rest');
  await page.getByRole('treeitem', { name: 'p7', exact: false }).first().click();
  equal(await page.getByLabel('Colour: choose').inputValue(), '#008080', 'a colour by its name is chosen as what it is');
  await browser.close();
  await server.ask('DELETE', `/universes/${id}`);
}

/** Orbits go through their bodies and have no corners, however near one is. */
async function fineLines(server) {
  const [{ Camera }, { fineLine }, { layoutOf, placesAt }, { worldOf }] = await Promise.all(['camera.ts', 'draw/fine.ts', 'layout.ts', 'model.ts'].map(module));
  const world = worldOf(await server.state('sol')), places = new Float64Array(3 * world.bodies.length);
  for (const scale of ['true', 'compact']) {
    const layout = layoutOf(world, scale);
    placesAt(world, layout, 8.4e8, places);
    for (const id of ['saturn', 'halley']) {
      const { index, parent } = world.byId.get(id), camera = new Camera();
      [camera.width, camera.height, camera.distance] = [1000, 800, scale === 'true' ? 1e-3 : 0.5];
      camera.target = [...places.slice(3 * index, 3 * index + 3)];
      camera.update();
      const points = [];
      fineLine(world.bodies[index], layout, [0, 1, 2].map((n) => places[3 * parent + n] - camera.target[n]), camera, points);
      let nearest = Infinity, sharpest = 0;
      for (let n = 3; n < points.length; n += 3) {
        const [a, b] = [points.slice(n - 3, n), points.slice(n, n + 3)], way = b.map((x, axis) => x - a[axis]);
        const long = way.reduce((sum, x) => sum + x * x, 0);
        const t = Math.min(1, Math.max(0, -way.reduce((sum, x, axis) => sum + x * a[axis], 0) / long));
        nearest = Math.min(nearest, Math.hypot(...a.map((x, axis) => x + t * way[axis])));
        if (n > 3) {
          const before = a.map((x, axis) => x - points[n - 6 + axis]);
          const cos = before.reduce((sum, x, axis) => sum + x * way[axis], 0) / Math.hypot(...before) / Math.sqrt(long);
          sharpest = Math.max(sharpest, Math.acos(Math.min(1, cos)));
        }
      }
      ok(nearest * camera.unit < 1, `the orbit of ${id} goes through it, ${scale}: ${nearest * camera.unit} pixels`);
      ok(points.length < 20_000 && sharpest < 0.35, `and has no corners: ${sharpest}`);
    }
  }
}

/** Surfaces are the same for the same body, and tilted with it; rings have a gap. */
async function surfaces() {
  const [{ skinOf }, { profileOf, shadeAt }] = await Promise.all(['skin.ts', 'draw/rings.ts'].map(module));
  const [one, same, other] = ['a', 'a', 'b'].map((seed) => [...skinOf('giant', [210, 166, 121], seed, 32).data].join());
  equal([one === same, one === other], [true, false], 'a surface is that of its body');
  const ring = profileOf('saturn', { innerRadiusMultiplier: 1.15, outerRadiusMultiplier: 2.35, opacity: 0.8, density: 0.7, albedo: 0.5, thickness: 0, color: '#ddd' });
  const at = (part) => ring[Math.floor(part * ring.length)];
  ok(Math.abs(shadeAt(2, [1, 0, 0]) - Math.PI / 6) < 1e-9 && shadeAt(2, [0.4, 0, 0.9]) === 0, 'a shadow as wide as its planet, which misses the ring where the light comes from above');
  ok(at(0.75) < 0.2 * at(0.6) && at(0.75) < 0.2 * at(0.85), `a gap between two bright parts: ${at(0.6)}, ${at(0.75)}, ${at(0.85)}`);
}

/** Planets turn about their axes, as far as that can be seen; moons show their planet one side. */
async function turning(server) {
  const [{ layoutOf, placesAt }, { worldOf }, { turnOf }] = await Promise.all(['layout.ts', 'model.ts', 'draw/globes.ts'].map(module));
  const world = worldOf(await server.state('sol')), layout = layoutOf(world, 'true'), places = new Float64Array(3 * world.bodies.length);
  const turned = (id, time, pace) => { placesAt(world, layout, time, places); return turnOf({ scene: { world }, places, time, pace }, world.byId.get(id).index); };
  const apart = (a, b) => Math.abs(Math.atan2(Math.sin(a - b), Math.cos(a - b)));
  ok(apart(turned('earth', 21_541, DAY), turned('earth', 0, DAY) + Math.PI / 2) < 1e-3, 'a quarter of a turn in a quarter of a day');
  equal(turned('jupiter', 21_541, DAY), 0, 'what turns twice in a second and more is shown as if it stood');
  ok(apart(turned('moon', 27.32 * DAY, 0), turned('moon', 0, 0)) < 0.1, 'the Moon turns once in a month');
  ok(apart(turned('moon', 6.83 * DAY, 0), turned('moon', 0, 0)) > 1.2, 'and about a quarter in a week');
}

/** The inspector shows the numbers of what is selected, also while time stands. */
async function tellsItsOwn(server) {
  const { page, browser } = await browse(`${server.url}/#sol?at=2026-11-27T00:00:00Z`);
  await drawn(page);
  const { places } = await server.ask('GET', '/universes/sol/places?at=2026-11-27T00:00:00Z&from=sun&bodies=saturn,earth,mercury,neptune');
  const fact = (name) => page.locator('.facts dt', { hasText: name }).locator('+ dd').textContent();
  for (const { id, distance } of places) {
    await page.locator('.row', { has: page.locator('.name', { hasText: new RegExp(`^${id}$`, 'i') }) }).click();
    await page.locator('.selection h2', { hasText: new RegExp(`^${id}$`, 'i') }).waitFor();
    ok(Math.abs(parseFloat(await fact('Distance now')) / distance - 1) < 0.001, `${id} is ${distance} au away: ${await fact('Distance now')}`);
    ok((await fact('Distance now')).includes(' au · '), 'with units');
  }
  equal([await fact('Year'), await fact('Orbits')], ['164.8 years', 'Sun'], 'in words that a child knows');
  // Setting a distance moves the body, and is said in its unit.
  const distance = page.locator('.inspector').getByLabel('Distance', { exact: true });
  await distance.fill('3');
  await page.keyboard.press('Enter');
  await until(async () => (await server.state('sol')).stars.neptune.elements.semiMajorAxis === 3, 'the distance is that of its elements');
  await until(async () => parseFloat(await fact('Distance now')) < 3.1, 'and the inspector follows');
  await server.ask('POST', '/universes/sol/undo', { revision: 0 });
  await browser.close();
}

/** Full screen, and a picture to keep. */
async function shares(server) {
  const { page, context, browser } = await browse(`${server.url}/#sol`);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await drawn(page);
  await button(page, 'Full screen').click();
  await until(() => page.evaluate(() => document.fullscreenElement?.id === 'middle'), 'the picture and its time over the whole screen');
  await page.keyboard.press('v');
  await until(() => page.evaluate(() => !document.fullscreenElement), 'and back');
  await button(page, 'Copy as picture').click();
  await says(page, 'The picture is copied.').waitFor();
  const [type, size] = await page.evaluate(async () => {
    const [it] = await navigator.clipboard.read();
    const blob = await it.getType('image/png'), image = await createImageBitmap(blob);
    return [blob.type, image.width];
  });
  equal([type, size], ['image/png', (await page.locator('.canvas').boundingBox()).width], 'the picture is as large as it is shown');
  // Where a page may not copy, it saves.
  await page.evaluate(() => { navigator.clipboard.write = () => Promise.reject(new Error('no')); });
  const waits = page.waitForEvent('download');
  await button(page, 'Copy as picture').click();
  ok((await waits).suggestedFilename().endsWith('.png'), 'it is saved where it cannot be copied');
  await browser.close();
}

/** The list has an address of its own, and each card is a picture. */
async function lists(server) {
  const { page, browser, faults } = await browse(server.url);
  await drawn(page);
  await page.keyboard.press('u');
  await page.getByRole('heading', { level: 1, name: 'Universes' }).waitFor();
  ok(page.url().endsWith('/#/'), 'the address of the list');
  await page.reload();
  await page.locator('.card-picture[data-drawn]').waitFor();
  const several = await page.locator('.card-picture').evaluate((it) => new Set(it.getContext('2d').getImageData(0, 0, it.width, it.height).data).size);
  ok(several > 20, 'the card has a picture of its universe');
  await page.locator('.card-open').click();
  await drawn(page);
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Universes' }).waitFor();
  equal(faults, [], 'nothing goes wrong');
  await browser.close();
}
