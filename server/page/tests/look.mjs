// The page as it looks: pictures to judge by eye, and what axe finds in each.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RESULTS, Server, browse, drawn, equal, ok } from './harness.mjs';
import { crowd } from './crowd.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export default async function look() {
  const server = await Server.start('--demo');
  const { id } = await server.ask('POST', '/universes', { name: 'Crowded', state: crowd(1200, 60000) });
  await server.ask('POST', '/universes', { name: 'Empty', state: {} });
  for (const dark of [true, false]) {
    for (const [size, view] of Object.entries({ desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844, touch: true, ratio: 2 } })) {
      // Each layout and each ground whole once, and what has most in it in all four.
      const whole = dark === (size === 'desktop');
      await visit(server, { ...view, dark }, `${size}-${dark ? 'dark' : 'light'}`, id, size === 'phone', whole);
    }
  }
}

async function visit(server, view, name, crowded, phone, whole) {
  const { browser, page, faults } = await browse(`${server.url}/#/`, view);
  const look = async (what) => {
    if (!whole && !['first', 'saturn', 'inspector', 'create', 'try', 'dead', 'crowded'].includes(what)) return;
    await page.waitForTimeout(250);
    await page.screenshot({ path: join(RESULTS, `${what}-${name}.png`) });
    // Not as a script of the page, which its policy would refuse.
    const found = await page.evaluate(`${AXE}; axe.run({ resultTypes: ['violations'] }).then((it) => it.violations.map((one) => [one.id, one.impact, one.nodes.map((node) => node.html.slice(0, 200) + ' | ' + node.failureSummary)]))`);
    equal(found, [], `axe finds nothing: ${what}, ${name}`);
  };
  await page.locator('.card-picture[data-drawn]').first().waitFor();
  await look('home');
  await page.getByRole('button', { name: 'New universe' }).click();
  await page.getByRole('radio', { name: 'From a seed' }).check();
  await look('create');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.goto(server.url);
  await drawn(page);
  await look('first');
  if (phone) await page.getByRole('tab', { name: 'Bodies' }).click();
  await page.getByRole('treeitem', { name: /Saturn/ }).click();
  if (phone) { await look('bodies'); await page.getByRole('tab', { name: 'Inspector' }).click(); }
  await page.getByRole('button', { name: 'Go there' }).click();
  await look('inspector');
  if (phone) await page.getByRole('tab', { name: 'Inspector' }).click();
  await look('saturn');
  await page.getByRole('button', { name: /Try it/ }).click();
  await page.getByRole('button', { name: 'Do it' }).click();
  await page.getByRole('button', { name: 'Take it away' }).waitFor();
  await look('try');
  await page.getByRole('button', { name: 'Take it away' }).click();
  await page.getByRole('button', { name: 'Do it' }).waitFor();
  await page.getByRole('region', { name: 'Try it' }).getByRole('button', { name: 'Close' }).click();
  await page.getByRole('tab', { name: 'Log' }).click();
  await look('log');
  if (whole) {
    await page.getByRole('button', { name: 'Help' }).click();
    await page.getByRole('dialog').getByText('Keys and gestures').waitFor();
    await look('help');
    await page.keyboard.press('Escape');
  }
  await page.goto(`${server.url}/#${crowded}`);
  await page.getByRole('heading', { level: 1, name: 'Crowded' }).waitFor();
  await drawn(page);
  if (phone) await page.getByRole('tab', { name: 'Log' }).click();
  await look('crowded');
  // Nothing is wider than the screen.
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `nothing sticks out: ${name}`);
  equal(faults, [], 'nothing goes wrong in the browser');
  await server.kill();
  await page.locator('.link-state[data-state="reconnecting"]').waitFor();
  await look('dead');
  await server.run();
  await browser.close();
}
