// Everything a person does on the page, each checked on the server too.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RESULTS, Server, browse, drawn, equal, ok, shows, stage, until } from './harness.mjs';

export default async function actions() {
  const server = await Server.start('--demo');
  const { page, faults } = await browse(`${server.url}/#/`);
  await makes(server, page);
  await edits(server, page);
  await looks(page);
  await timeGoes(server, page);
  await goesBack(server, page);
  await filesGoInAndOut(server, page);
  await removes(server, page);
  await fingers(server);
  equal(faults.filter((it) => !it.includes('422')), [], 'nothing goes wrong in the browser but what the server refused');
  equal(faults.length, 1, 'and that was one command');
}

const button = (page, name) => page.getByRole('button', { name, exact: true });
const row = (page, name) => page.getByRole('treeitem', { name: new RegExp(`^›?\\s*${name}`) }).first();
const field = (page, name) => page.locator('.inspector').getByLabel(name, { exact: true }).first();
const idOf = (page) => decodeURIComponent(new URL(page.url()).hash.slice(1).split('?')[0]);

async function makes(server, page) {
  await page.locator('.card').filter({ hasText: 'Sol' }).waitFor();
  const make = async (kind, name) => {
    await button(page, 'New universe').click();
    await page.getByRole('radio', { name: kind }).check();
    await page.getByRole('dialog').getByLabel('Name').fill(name);
    await button(page, 'Create').click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };
  await make('Solar system', 'Copy of Sol');
  await drawn(page);
  equal(Object.keys((await server.state(idOf(page))).stars).length, 50, 'the solar system has its bodies');
  await button(page, 'Universe: show all universes').click();
  await make('Empty', 'Nothing');
  await page.getByText('This universe is empty.').waitFor();
  equal((await server.state(idOf(page))).rootIds, [], 'and is empty');
  // A body on its own, and one that circles it.
  for (const [open, name] of [['Add a body', 'Alpha'], ['Add satellite', 'Beta']]) {
    await button(page, open).click();
    await page.getByRole('dialog').getByLabel('Name').fill(name);
    await button(page, 'Add').click();
    await page.locator('.selection h2', { hasText: name }).waitFor();
  }
  const made = await server.state(idOf(page));
  equal(made.stars.beta.parentId, 'alpha', 'the satellite circles the body');
  await button(page, 'Universe: show all universes').click();
  await generates(server, page, make);
}

/** A server that does not make universes from seeds says so, and then the page does. */
async function generates(server, page, make) {
  const probe = await fetch(`${server.url}/universes`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name: 'Probe', generate: { seed: 'page' } }),
  });
  if (probe.status !== 201) {
    console.log('  skipped: this server makes no universes from seeds');
    return;
  }
  await server.ask('DELETE', `/universes/${(await probe.json()).id}`);
  await make('From a seed', 'Generated');
  await drawn(page);
  ok(Object.keys((await server.state(idOf(page))).stars).length > 5, 'a generated universe has bodies');
  await button(page, 'Universe: show all universes').click();
}

async function edits(server, page) {
  await page.locator('.card-open', { hasText: 'Copy of Sol' }).click();
  await drawn(page);
  const id = idOf(page);
  await page.keyboard.press('/');
  await page.getByLabel('Search the universe').fill('earth');
  await page.keyboard.press('Enter');
  await page.locator('.selection h2', { hasText: 'Earth' }).waitFor();
  await page.getByLabel('Search the universe').fill('');
  await field(page, 'Mass').fill('2.5');
  await page.keyboard.press('Enter');
  await until(async () => (await server.state(id)).stars.earth.mass === 2.5, 'the mass is changed on the server');
  await shows(page, 1);
  // What is wrong is said at the field, and nothing is sent.
  await field(page, 'Mass').fill('heavy');
  await page.keyboard.press('Tab');
  await page.getByText('Mass must be a number').waitFor();
  await field(page, 'Mass').press('Escape');
  // What is odd is taken, and the server's warning is shown.
  await field(page, 'Mass').fill('-5');
  await page.keyboard.press('Enter');
  await page.locator('.warnings', { hasText: 'should be 0 or more' }).waitFor();
  // What the server refuses is shown at its field.
  await page.getByText('Move to another body').click();
  await field(page, 'Orbits').fill('moon');
  await page.keyboard.press('Enter');
  await page.locator('.field .wrong').waitFor();
  ok(true, 'a circle of parents is refused at its field');
  await field(page, 'Orbits').fill('Venus');
  await page.keyboard.press('Enter');
  await until(async () => (await server.state(id)).stars.earth.parentId === 'venus', 'a body moves to another');
  await button(page, 'Detach').click();
  await until(async () => (await server.state(id)).stars.earth.parentId === null, 'a body is detached');
  await button(page, 'Add ring').click();
  await until(async () => (await server.state(id)).stars.earth.ring, 'a ring is added');
  await field(page, 'Outer radius').fill('4');
  await page.keyboard.press('Enter');
  await until(async () => (await server.state(id)).stars.earth.ring.outerRadiusMultiplier === 4, 'a ring is changed');
  await button(page, 'Remove ring').click();
  await until(async () => !(await server.state(id)).stars.earth.ring, 'a ring is removed');
  await page.getByLabel('Search the universe').fill('kuiper');
  await page.keyboard.press('Enter');
  await field(page, 'Opacity').fill('0.25');
  await page.keyboard.press('Enter');
  await until(async () => (await server.state(id)).smallBodyFields['kuiper-belt'].opacity === 0.25, 'a belt is changed');
  await page.getByLabel('Search the universe').fill('');
  // The name of the universe.
  await button(page, 'Rename').click();
  await page.getByRole('dialog').getByLabel('Name').fill('Renamed');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor();
  equal((await server.ask('GET', `/universes/${id}`)).name, 'Renamed', 'a universe is renamed');
}

/** Turning, zooming, moving, following, and what is shown. */
async function looks(page) {
  const picture = () => page.locator('.canvas').screenshot().then((it) => it.toString('base64'));
  const changes = async (work, what) => {
    const before = await picture();
    await work();
    await until(async () => await picture() !== before, what);
  };
  const box = await page.locator('.canvas').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const drag = async () => { await page.mouse.move(x, y); await page.mouse.down(); await page.mouse.move(x + 90, y + 40, { steps: 3 }); await page.mouse.up(); };
  await page.mouse.move(x + 200, y + 200);
  await changes(drag, 'a drag turns');
  await page.keyboard.down('Shift');
  await changes(drag, 'a drag with Shift moves');
  await page.keyboard.up('Shift');
  await changes(() => page.mouse.wheel(0, -400), 'the wheel zooms');
  for (const key of ['0', '+', 'l', 'o', 'c', 's']) await changes(() => page.keyboard.press(key), `the key ${key} changes the picture`);
  await page.getByText('True distances').waitFor();
  for (const key of ['s', 'c', 'o', 'l', '0']) await page.keyboard.press(key);
  await page.locator('.canvas').focus();
  for (const key of ['ArrowLeft', 'ArrowUp', 'Shift+ArrowRight']) await changes(() => page.keyboard.press(key), `${key} changes the picture`);
  // The middle of everything is the Sun.
  await page.keyboard.press('0');
  await until(async () => {
    await page.mouse.click(x, y);
    return page.locator('.selection h2', { hasText: 'Sun' }).isVisible();
  }, 'a click selects');
  // The list by the keyboard alone.
  await page.locator('.tree').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await changes(() => page.keyboard.press('Enter'), 'Enter in the list goes to a body');
  await page.locator('.selection h2', { hasText: 'Mercury' }).waitFor();
  await changes(() => page.keyboard.press('t'), 'the key t changes the colours');
  await until(async () => await page.evaluate(() => document.documentElement.dataset.theme) === 'light', 'light is on');
  await page.keyboard.press('t');
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Keys and gestures').waitFor();
  await page.keyboard.press('Escape');
  // A browser hides a window before it reports that it is closed, and until then the page takes no keys: what counts is
  // that the page has taken it away.
  await until(async () => await page.locator('dialog').count() === 0, 'Escape closes the help');
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  // A browser reports that a window is closed later than it closes it.
  await page.evaluate(() => {
    document.querySelector('dialog').close();
    document.querySelector('.canvas').focus();
  });
  await until(async () => await page.locator('dialog').count() === 0, 'the window is gone');
  ok(await page.locator('.canvas').evaluate((it) => it === document.activeElement), 'what has the focus since a window was closed keeps it');
}

async function timeGoes(server, page) {
  const id = idOf(page);
  const shown = async () => Number((await stage(page)).time);
  await page.locator('.canvas').focus();
  await page.keyboard.press('b');
  await until(async () => await shown() === 0, "the universe's time is shown");
  await page.keyboard.press(' ');
  await until(async () => await shown() > 0, 'time goes on when it plays');
  await page.keyboard.press(' ');
  const paused = await shown();
  const frames = (await stage(page)).frames;
  await new Promise((wake) => setTimeout(wake, 300));
  equal([await shown(), Number((await stage(page)).frames) - Number(frames) < 3], [paused, true], 'paused, nothing moves and nothing is drawn');
  await page.keyboard.press('.');
  await until(async () => await shown() > paused, 'a step goes on');
  await page.keyboard.press(',');
  await until(async () => Math.abs(await shown() - paused) < 0.001, 'a step back comes back');
  const speed = () => page.locator('.speed output').textContent();
  const before = await speed();
  await page.keyboard.press(']');
  await until(async () => await speed() !== before, 'the speed changes');
  const date = page.getByLabel('Date and time');
  await date.fill('2000-01-02 12:00');
  await page.keyboard.press('Enter');
  await until(async () => await shown() === 86400, 'a jump to a date');
  equal((await server.state(id)).time, 0, 'looking changes nothing');
  await page.locator('.tree').focus();
  // Who went there follows, until the key takes it back.
  await page.getByRole('button', { name: 'Following' }).waitFor();
  await page.keyboard.press('f');
  await page.getByRole('button', { name: 'Follow', exact: true }).waitFor();
  await button(page, "Set universe's time").click();
  await until(async () => (await server.state(id)).time === 86400, 'the universe is moved to the time shown');
}

async function goesBack(server, page) {
  const id = idOf(page);
  const { revision } = await server.ask('GET', `/universes/${id}`);
  await page.getByRole('tab', { name: 'Log' }).click();
  const entries = page.locator('.entries li');
  await until(async () => await entries.count() === revision, 'the log has every revision');
  ok((await entries.first().textContent()).includes('tick'), 'the newest first');
  await page.getByRole('button', { name: 'Back to here: revision 1', exact: true }).click();
  await shows(page, revision + 1);
  equal((await server.state(id)).stars.earth.mass, 2.5, 'the state of revision 1 is back');
  await page.locator('.canvas').focus();
  await page.keyboard.press('Control+z');
  await shows(page, revision + 2);
  equal((await server.state(id)).stars.earth.mass, -5, 'and is undone itself');
}

async function filesGoInAndOut(server, page) {
  const id = idOf(page);
  const waits = page.waitForEvent('download');
  await button(page, 'Export as JSON').click();
  const path = join(RESULTS, 'export.json');
  await (await waits).saveAs(path);
  const state = await server.state(id);
  equal(JSON.parse(readFileSync(path, 'utf8')).state, state, 'the file is the state');
  await button(page, 'Universe: show all universes').click();
  await button(page, 'New universe').click();
  await page.getByRole('radio', { name: 'From a file' }).check();
  const broken = join(RESULTS, 'broken.json');
  writeFileSync(broken, '{"planets": 3}');
  await page.getByLabel('File', { exact: true }).setInputFiles(broken);
  await page.getByText('holds neither a state').waitFor();
  await page.getByLabel('File', { exact: true }).setInputFiles(path);
  await page.getByRole('dialog').getByLabel('Name').fill('Imported');
  await button(page, 'Create').click();
  await page.getByRole('heading', { level: 1, name: 'Imported' }).waitFor();
  equal(await server.state(idOf(page)), state, 'what comes back in is the same');
}

async function removes(server, page) {
  const id = idOf(page);
  await row(page, 'Mercury').click();
  await page.getByRole('tab', { name: 'Inspector' }).click();
  await button(page, 'Remove').click();
  await until(async () => !(await server.state(id)).stars.mercury, 'a body is removed');
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await until(async () => (await server.state(id)).stars.mercury, 'and is back');
  await button(page, 'Delete this universe').click();
  await button(page, 'Keep it').click();
  ok(await server.state(id), 'a universe that is kept is there');
  await button(page, 'Delete this universe').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await until(async () => (await fetch(`${server.url}/universes/${id}`)).status === 404, 'a universe is deleted');
  await page.getByRole('heading', { level: 1, name: 'Universes' }).waitFor();
}

/** What fingers do on a phone. */
async function fingers(server) {
  const { context, page, faults } = await browse(`${server.url}/#sol`, { width: 390, height: 844, touch: true, ratio: 2 });
  await drawn(page);
  const screen = await context.newCDPSession(page);
  const box = await page.locator('.canvas').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const touch = (type, points) => screen.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([px, py], id) => ({ x: px, y: py, id })) });
  /** Fingers go from `from` to `to` in four steps. */
  const go = async (from, to) => {
    await touch('touchStart', from);
    for (let step = 1; step <= 4; step += 1) await touch('touchMove', from.map(([px, py], at) => [px + (to[at][0] - px) * step / 4, py + (to[at][1] - py) * step / 4]));
    await touch('touchEnd', []);
  };
  const distance = async () => Number((await stage(page)).distance);
  const apart = (by) => [[x - by, y], [x + by, y]];
  const whole = await distance();
  const near = (wanted) => async () => Math.abs(await distance() / wanted - 1) < 0.02;
  await go(apart(40), apart(80));
  await until(near(whole / 2), 'a pinch that opens to twice its width zooms in to half the distance');
  await go(apart(80), apart(40));
  await until(near(whole), 'a pinch that closes zooms out again');
  const picture = () => page.locator('.canvas').screenshot().then((it) => it.toString('base64'));
  for (const [from, to, what] of [[[[x, y]], [[x + 60, y + 30]], 'one finger turns'], [apart(40), apart(40).map(([px, py]) => [px, py + 60]), 'two fingers move']]) {
    const before = await picture();
    await go(from, to);
    await until(async () => await picture() !== before, what);
    await until(near(whole), `${what} and does not zoom`);
  }
  equal(faults, [], 'nothing goes wrong in the browser of a phone');
}
