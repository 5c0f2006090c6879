// Who may what: the page follows the server, says what is not allowed, and keeps a token for its tab alone.

import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, browse, drawn, equal, ok, until } from './harness.mjs';

export default async function access() {
  await headers();
  await readOnly();
  await tokens();
}

async function headers() {
  const server = await Server.start();
  const page = await fetch(`${server.url}/`, { headers: { 'accept-encoding': 'gzip' } });
  const policy = page.headers.get('content-security-policy');
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
    ok(policy.includes(part), `the policy has ${part}`);
  }
  ok(!/unsafe|data:|\*|https?:/.test(policy), 'and nothing that is loose');
  equal(page.headers.get('x-content-type-options'), 'nosniff', 'types are not guessed');
  equal(page.headers.get('cache-control'), 'no-cache', 'the page itself is asked for again');
  const html = await page.text();
  ok(!/https?:\/\//.test(html), 'no outside address');
  const known = await fetch(`${server.url}/`, { headers: { 'if-none-match': page.headers.get('etag'), 'accept-encoding': 'gzip' } });
  equal(known.status, 304, 'a known page is not sent again');
  for (const path of html.match(/\/page\/[\w.-]+/g)) {
    const [packed, plain] = await Promise.all(['gzip', 'identity'].map((it) => fetch(server.url + path, { headers: { 'accept-encoding': it } })));
    equal(packed.headers.get('content-encoding'), 'gzip', `${path} is compressed`);
    equal(plain.headers.get('content-encoding'), null, 'for those who take it');
    ok(packed.headers.get('cache-control').includes('immutable'), 'and kept for good');
    ok(packed.headers.get('etag') !== plain.headers.get('etag'), 'under tags of their own');
    equal(await packed.text(), await plain.text(), 'both are the same');
  }
  equal((await fetch(`${server.url}/`, { method: 'POST' })).status, 405, 'the page is read only');
}

async function readOnly() {
  const server = await Server.start('--demo');
  await server.command('sol', { type: 'tick', dt: 1 });
  await server.kill();
  server.options.push('--read-only');
  await server.run();
  const { page, faults } = await browse(`${server.url}/#/`);
  await page.getByText('started with --read-only').waitFor();
  ok(await page.getByRole('button', { name: 'New universe' }).isDisabled(), 'nothing can be made');
  await page.locator('.card-open').click();
  await drawn(page);
  await page.getByRole('treeitem', { name: /Mars/ }).click();
  ok(await page.locator('.inspector .banner').textContent().then((it) => it.includes('--read-only')), 'the inspector says why');
  ok(await page.locator('.inspector').getByLabel('Mass', { exact: true }).isDisabled(), 'fields cannot be edited');
  ok(await page.getByRole('button', { name: 'Remove', exact: true }).isDisabled(), 'nothing can be removed');
  await page.getByRole('tab', { name: 'Log' }).click();
  await until(async () => await page.locator('.entries li').count() === 1, 'the log can be read');
  equal(faults, [], 'nothing goes wrong in the browser');
}

async function tokens() {
  const file = join(mkdtempSync(join(tmpdir(), 'universe-page-')), 'tokens');
  const line = (token, name, scopes) => `sha256:${createHash('sha256').update(token).digest('hex')} ${name} ${scopes}\n`;
  writeFileSync(file, line('full', 'ann', 'admin') + line('look', 'bob', 'read') + line('some', 'eve', 'universe:sol:write'));
  const server = await Server.start('--demo', '--auth-token-file', file);
  const { page, context, faults } = await browse(`${server.url}/#/`);
  const enter = async (token) => {
    await page.getByRole('dialog').getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Continue' }).click();
  };
  await page.getByText('This server asks who is calling.').waitFor();
  await enter('wrong');
  await page.getByText('The server does not take this token.').waitFor();
  await enter('look');
  await page.getByText('Your token may not make universes').waitFor();
  await page.locator('.card-open').click();
  await drawn(page);
  await page.getByRole('treeitem', { name: /Mars/ }).click();
  ok(await page.locator('.inspector .banner').textContent().then((it) => it.includes('scope write')), 'who may read is told what is missing');
  ok(await page.locator('.inspector').getByLabel('Mass', { exact: true }).isDisabled(), 'and cannot edit');
  equal(await page.evaluate(() => [sessionStorage.getItem('universe-token'), Object.values(localStorage).includes('look'), document.cookie]), ['look', false, ''], 'the token is kept for the tab alone');
  await page.reload();
  await drawn(page);
  ok(true, 'and survives a reload');
  const other = await context.newPage();
  await other.goto(server.url);
  await other.getByText('This server asks who is calling.').waitFor();
  await other.close();
  // Who may change one universe may do so, and not delete it nor make others.
  await page.evaluate(() => sessionStorage.setItem('universe-token', 'some'));
  await page.reload();
  await drawn(page);
  await page.getByRole('treeitem', { name: /Mars/ }).click();
  await page.locator('.inspector').getByLabel('Mass', { exact: true }).fill('3');
  await page.keyboard.press('Enter');
  await page.getByRole('tab', { name: 'Log' }).click();
  await page.locator('.entries li').first().waitFor();
  await until(async () => (await server.ask('GET', '/universes/sol', undefined, 'some')).state.stars.mars.mass === 3, 'a scope about one universe is enough to change it');
  ok(await page.getByRole('button', { name: /Delete: this needs the scope admin/ }).isDisabled(), 'and not to delete it');
  await page.getByRole('button', { name: 'Universe: show all universes' }).click();
  await page.getByText('Your token may not make universes').waitFor();
  await page.evaluate(() => sessionStorage.setItem('universe-token', 'full'));
  await page.reload();
  await page.locator('.card-open').waitFor();
  ok(await page.getByRole('button', { name: 'New universe' }).isEnabled(), 'who may do everything may make universes');
  equal(faults.filter((it) => !it.includes('401')), [], 'nothing goes wrong but that the server asks');
}
