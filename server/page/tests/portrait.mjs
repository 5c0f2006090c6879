// Makes the picture of README: a client of MCP in a terminal, recorded, and beside it the page as it is when the client
// has done its work. `node tests/portrait.mjs --server PATH [--chromium PATH] [--results DIR] [--mcpdo COMMAND]`.
//
// The client is mcpdo of the MCP Inspector, by default fetched by npx. What is shown of it is what a shell printed.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RESULTS, Server, browse, drawn, finish, given, stage, until } from './harness.mjs';

const MCPDO = given('mcpdo', 'npx --yes --package=@modelcontextprotocol/inspector@2.12.0 mcpdo');
const WIDE = 860, HIGH = 690;

const commands = (url) => [
  `mcpdo connect ${url}/mcp \\
  --era modern --connection sky`,
  `mcpdo @sky tools/call get_universe_state \\
  universeId:=sol 'select:={"places":{
    "bodies":["neptune"],"from":"earth","at":"now"}}' \\
  --format json | jq '.structuredContent.places[0]'`,
  `mcpdo @sky tools/call send_universe_command \\
  universeId:=sol 'command:={
    "type":"updateRing","planetId":"neptune","patch":{
    "innerRadiusMultiplier":1.6,"outerRadiusMultiplier":2.6,
    "color":"#9db4ff"}}' \\
  --format json | jq -c '.structuredContent.events'`,
];

/** A shell in which the client works as it does for anybody, and keeps nothing outside of a folder. */
function shell(folder) {
  const env = { ...process.env, MCP_INSPECTOR_DAEMON_DIR: folder, MCP_INSPECTOR_SECRET_STORE: 'memory', NO_COLOR: '1' };
  const run = promisify(execFile);
  // What it prints beside its answers is about where it keeps secrets.
  return async (line) => (await run('bash', ['-c', `set -o pipefail\nmcpdo() { ${MCPDO} "$@"; }\n${line}`], { env })).stdout;
}

async function portrait() {
  const server = await Server.start('--demo'), folder = mkdtempSync(join(tmpdir(), 'mcpdo-'));
  const run = shell(folder), said = [];
  try {
    const { page } = await browse(`${server.url}/#sol?body=neptune`, { width: WIDE, height: HIGH });
    await drawn(page);
    await page.locator('.canvas').focus();
    for (const key of ['v', 'g']) await page.keyboard.press(key);
    for (const line of commands(server.url)) said.push([line, await run(line)]);
    await until(async () => (await stage(page)).revision === '1', 'the page shows what the client did');
    await page.waitForTimeout(1000);
    const picture = (await page.screenshot()).toString('base64');
    // The port is one that is free here; anybody else's is that of README.
    const text = said.map(([line, out]) => `<b>$</b> <i>${escaped(line)}</i>\n${escaped(out.trim())}\n`).join('\n').replaceAll(server.url, 'http://127.0.0.1:3001');
    const { page: sheet } = await browse(null, { width: WIDE + 560, height: HIGH });
    await sheet.setContent(`<style>
      body { margin: 0; display: flex; background: #0d1018; } img { width: ${WIDE}px; height: ${HIGH}px; display: block; }
      pre { margin: 0; width: 560px; height: ${HIGH}px; box-sizing: border-box; padding: 18px 20px; color: #aab2c5; border-right: 1px solid #2a3040; font: 14px/1.42 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
      b { color: #6fd08c; } i { color: #f2f4fa; font-style: normal; }
    </style><pre>${text}</pre><img src="data:image/png;base64,${picture}">`);
    await sheet.screenshot({ path: join(RESULTS, 'portrait.png') });
    console.log(join(RESULTS, 'portrait.png'));
  } finally {
    await run('mcpdo daemon stop').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
    await finish();
  }
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

await portrait();
