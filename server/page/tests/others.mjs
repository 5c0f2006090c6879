// Others change the same universe: a second browser, a model by MCP. And the server is killed in between.

import { Server, browse, drawn, equal, ok, shows, stage, until } from './harness.mjs';

export default async function others() {
  const server = await Server.start('--demo');
  const begun = (await server.state('sol')).time;
  const one = await browse(`${server.url}/#sol`), two = await browse(`${server.url}/#sol`, { width: 1100, dark: false });
  await Promise.all([drawn(one.page), drawn(two.page)]);
  const mass = (page) => page.locator('.inspector').getByLabel('Mass', { exact: true }).inputValue();
  for (const { page } of [one, two]) {
    await page.getByRole('treeitem', { name: /Venus/ }).click();
    await page.locator('.selection h2', { hasText: 'Venus' }).waitFor();
  }
  const typed = one.page.locator('.inspector').getByLabel('Mass', { exact: true });
  await typed.fill('7');
  await one.page.keyboard.press('Enter');
  await until(async () => await mass(two.page) === '7', 'the second browser sees what the first one did');
  await server.tool('sol', { type: 'updateStar', id: 'venus', payload: { mass: 8 } });
  for (const { page } of [one, two]) await until(async () => await mass(page) === '8', 'both see what a model did');
  // What a command says of more than itself is read from the server.
  await server.tool('sol', { type: 'removeStar', id: 'jupiter' });
  for (const { page } of [one, two]) await until(async () => await page.locator('.row .name', { hasText: /^Jupiter$/ }).count() === 0, 'a removed body is gone');
  await one.page.getByRole('tab', { name: 'Log' }).click();
  await until(async () => (await one.page.locator('.entries strong').allTextContents()).join() === 'removeStar,updateStar,updateStar', 'the log has all three');
  // A crash, and changes by others before the page is back.
  await server.kill();
  await one.page.getByText('Reconnecting…').waitFor();
  await server.run();
  for (let n = 0; n < 5; n += 1) await server.tool('sol', { type: 'tick', dt: 10 });
  await server.command('sol', { type: 'updateStar', id: 'venus', payload: { mass: 9 } });
  for (const { page } of [one, two]) {
    await shows(page, 9);
    await page.getByText('Live', { exact: true }).waitFor();
  }
  const revisions = async () => (await one.page.locator('.entries .revision').allTextContents()).join();
  await until(async () => await revisions() === '9,8,7,6,5,4,3,2,1', 'the log has no gap and nothing twice');
  await until(async () => (await stage(one.page)).time === `${begun + 50}`, "the universe's time is shown, as nobody here chose another");
  // A burst: every one arrives.
  await server.command('sol', Array.from({ length: 300 }, () => ({ type: 'tick', dt: 1 })));
  for (const { page } of [one, two]) await shows(page, 309);
  await server.ask('DELETE', '/universes/sol');
  for (const { page } of [one, two]) await page.getByRole('heading', { level: 1, name: 'Universes' }).waitFor();
  ok(true, 'a deleted universe is closed');
  const own = (faults) => faults.filter((it) => !/Failed to load resource: net::ERR_|net::ERR_INCOMPLETE|net::ERR_CONNECTION/.test(it));
  equal([own(one.faults), own(two.faults)], [[], []], 'nothing goes wrong but that the killed server does not answer');
}
