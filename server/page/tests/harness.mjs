// What the tests of the page need: servers to start and kill, browsers, and checks that are counted.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

export const given = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
};
export const SERVER = given('server');
export const CHROMIUM = given('chromium', '/usr/bin/chromium');
/** Where pictures and figures are left. */
export const RESULTS = given('results', join(tmpdir(), 'universe-page'));
export const ONLY = given('only');
/** The golden cases of the reducer. */
export const VECTORS = given('vectors');
export const VIEW = given('view');
mkdirSync(RESULTS, { recursive: true });

/** How long anything that must happen may take, in milliseconds. Nothing takes that long when all is well. */
export const PATIENCE = 20_000;

const FLAGS = ['--headless', '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
const PLAIN = ['--disable-gpu'], SOFTWARE_GL = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

let checks = 0;
export const counted = () => checks;
export function ok(value, what) { assert.ok(value, what); checks += 1; }
export function equal(actual, expected, what) { assert.deepEqual(actual, expected, what); checks += 1; }
/** Waits until `ask` gives something true. */
export async function until(ask, what) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const got = await ask();
    if (got) { checks += 1; return got; }
    assert.ok(Date.now() < end, `not within ${PATIENCE / 1000} s: ${what}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

const ends = [];
/** Ends all that was begun. */
export async function finish() {
  for (const end of ends.splice(0).reverse()) await end();
}

const freePort = () => new Promise((found) => {
  const probe = createServer().listen(0, '127.0.0.1', () => { const { port } = probe.address(); probe.close(() => found(port)); });
});

/** A server on a port and a folder of its own, that can be killed and started again on both. */
export class Server {
  static async start(...options) {
    const server = new Server();
    server.port = await freePort();
    server.folder = mkdtempSync(join(tmpdir(), 'universe-page-'));
    server.options = options;
    ends.push(async () => { await server.kill(); rmSync(server.folder, { recursive: true, force: true }); });
    await server.run();
    return server;
  }

  get url() { return `http://127.0.0.1:${this.port}`; }

  async run() {
    const process = spawn(SERVER, ['--listen', `127.0.0.1:${this.port}`, '--data-dir', this.folder, ...this.options], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    process.stderr.on('data', (chunk) => { said = (said + chunk).slice(-4000); });
    this.ended = new Promise((end) => process.on('exit', end));
    this.process = process;
    await until(async () => {
      assert.equal(process.exitCode, null, `the server ended: ${said}`);
      return fetch(`${this.url}/livez`).then((it) => it.ok, () => false);
    }, 'the server listens');
  }

  /** As a power cut would. */
  async kill() {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  async ask(method, path, body, token) {
    const response = await fetch(this.url + path, {
      method, body: body === undefined ? undefined : JSON.stringify(body),
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...(token ? { authorization: `Bearer ${token}` } : {}) },
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    return text ? JSON.parse(text) : null;
  }

  state = (id) => this.ask('GET', `/universes/${id}`).then((it) => it.state);
  command = (id, command) => this.ask('POST', `/universes/${id}/commands?result=events`, command);

  /** A command by a tool of MCP, as a model sends it. */
  async tool(id, command) {
    const response = await fetch(`${this.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json', accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'send_universe_command',
      },
      body: JSON.stringify({
        jsonrpc: '2.0', id: 1, method: 'tools/call',
        params: {
          name: 'send_universe_command', arguments: { universeId: id, command },
          _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} },
        },
      }),
    });
    const text = await response.text();
    ok(response.ok && !text.includes('"isError":true'), `the tool answers: ${text.slice(0, 300)}`);
  }
}

/** A browser of its own with one page; what goes wrong in it is remembered. */
export async function browse(url, { width = 1440, height = 900, dark = true, touch = false, gl = false, ratio = 1, calm = true } = {}) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...(gl ? SOFTWARE_GL : PLAIN)] });
  ends.push(() => browser.close().catch(() => {}));
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', hasTouch: touch, deviceScaleFactor: ratio,
    reducedMotion: calm ? 'reduce' : 'no-preference', acceptDownloads: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const faults = [];
  page.on('console', (message) => { if (message.type() === 'error') faults.push(message.text()); });
  page.on('pageerror', (error) => faults.push(String(error)));
  if (url) await page.goto(url);
  return { browser, context, page, faults };
}

/** What the picture says of itself. */
export const stage = (page) => page.locator('.canvas').evaluate((it) => ({ ...it.dataset }));
/** Waits until the page shows a revision. */
export const shows = (page, revision) => until(async () => Number((await stage(page)).revision) === revision, `revision ${revision} is shown`);
/** Waits until a universe is open and drawn. */
export const drawn = (page) => until(async () => await page.locator('.canvas').count() === 1 && Number((await stage(page)).frames) > 0, 'a picture is drawn');
