// The view of universe-server in Chromium, inside the official host's side of MCP Apps: what it draws, what its buttons
// do to the server, and that it asks for nothing from elsewhere. Counts the tokens of the tools, too.
// Arguments: --url URL --chromium PATH [--shots DIR]. One line for each check; exits with 1 if one fails.
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { chromium } from "playwright-core";

const options = { url: { type: "string" }, chromium: { type: "string" }, shots: { type: "string" } };
const { values: given } = parseArgs({ options });
const here = import.meta.dirname;
const APPS = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };

let failed = false;
function check(ok, what) {
  failed ||= !ok;
  console.log(`${ok ? "ok    " : "FAILED"} ${what}`);
}

async function rpc(method, params) {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
  };
  const name = params.name ?? params.uri;
  if (name) headers["mcp-name"] = name;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { extensions: APPS },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } });
  return (await fetch(given.url, { method: "POST", headers, body })).json();
}

async function tool(name, args) {
  const { result } = await rpc("tools/call", { name, arguments: args });
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
}
const timeOf = async id => (await tool("get_universe_state", { universeId: id })).time;

/** Looks again until it is so, up to ten seconds. */
async function until(look) {
  for (let n = 0; n < 100; n++) {
    if (await look()) return true;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  return false;
}

const { result: { tools } } = await rpc("tools/list", {});
const tokens = encode(JSON.stringify({ tools })).length;
check(tokens < 6000, `${tools.length} tools are ${tokens} tokens (o200k), under 6000`);
const views = tools.filter(it => it._meta?.ui?.resourceUri === "ui://universe/view").map(it => it.name);
check(views.join() === "get_universe_state,send_universe_command", `the view belongs to ${views}`);

const { outputFiles: [host] } = await build({
  entryPoints: [path.join(here, "host.js")], bundle: true, format: "iife", write: false, logLevel: "error",
});
const pages = http.createServer(async (request, response) => {
  if (request.url === "/rpc") {
    let body = "";
    for await (const piece of request) body += piece;
    const { method, params } = JSON.parse(body);
    response.end(JSON.stringify(await rpc(method, params)));
  } else if (request.url === "/host.js") {
    response.setHeader("content-type", "text/javascript").end(host.contents);
  } else {
    response.setHeader("content-type", "text/html").end("<!DOCTYPE html><title>host</title><body><script src=/host.js></script>");
  }
});
await new Promise(resolve => pages.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${pages.address().port}`;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "view-"));
const browser = await chromium.launchPersistentContext(folder, {
  executablePath: given.chromium,
  headless: true,
  viewport: { width: 760, height: 480 },
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage();
const problems = [];
page.on("console", message => { if (["error", "warning"].includes(message.type())) problems.push(message.text()); });
page.on("pageerror", error => problems.push(String(error)));
page.on("request", request => {
  if (!request.url().startsWith(origin) && !/^(about|data):/.test(request.url())) problems.push(`asked for ${request.url()}`);
});
const shot = name => given.shots && page.screenshot({ path: path.join(given.shots, `${name}.png`) });

try {
  await page.goto(origin);
  const html = (await rpc("resources/read", { uri: "ui://universe/view" })).result.contents[0].text;
  const open = (theme, capabilities) =>
    page.evaluate(given => window.open_view(...given), [html, theme, capabilities]);
  const tell = (name, args) => page.evaluate(given => window.tell(...given), [name, args]);
  const view = () => page.frames()[1];
  const said = () => view().textContent("#said");
  const says = text => until(async () => (await said()).includes(text));

  const recipe = { seed: "app", preset: "moonRich", systems: 1, style: "crowded" };
  const { universeId: id } = await tool("create_universe", { name: "app", generate: recipe });
  await open("dark", { serverTools: {} });
  await tell("get_universe_state", { universeId: id });
  check(await says("67 bodies"), `what the host tells is shown: ${await said()}`);
  await shot("app-dark");
  const begin = await page.screenshot();

  await view().click("#step");
  check(await until(async () => await timeOf(id) > 0), "a step is a tick on the server");
  const stepped = await timeOf(id);
  await view().click("#play");
  check(await view().textContent("#play") === "Pause", "playing can be paused");
  check(await until(async () => await timeOf(id) > stepped), "playing is ticks on the server");
  await view().click("#play");
  // What was shown when it was paused is told to the server last.
  let last;
  await until(async () => last === (last = await timeOf(id)) && (await said()).includes(`time ${+last.toPrecision(4)} s`));
  check((await said()).includes(`time ${+last.toPrecision(4)} s`), `paused, it shows the server's time: ${await said()}`);
  check(!(await page.screenshot()).equals(begin), "bodies have moved");

  await page.evaluate(() => window.dress("light"));
  check(await until(() => view().evaluate(() => document.documentElement.dataset.theme === "light")), "the host's theme");
  await shot("app-light");
  const { universeId: sol } = await tool("create_universe", { name: "Sol", from: "sol" });
  await tell("get_universe_state", { universeId: sol });
  check(await says("50 bodies"), "another universe");
  await shot("app-sol");
  const command = { type: "tick", dt: 8640000 };
  await tell("send_universe_command", { universeId: sol, command, result: "events" });
  check(await says("time 100 days"), "after a result without a state it asks for that");
  check(await page.evaluate(() => window.heard.some(([what]) => what === "size")), "it tells its size");

  await open("dark", {});
  await tell("get_universe_state", { universeId: "sol" });
  check(await says("view only") && await view().isDisabled("#step"), "where views may call no tools it only shows");
  await page.setViewportSize({ width: 360, height: 480 });
  await shot("app-phone");
  await page.evaluate(() => window.bridge.teardownResource({}));
  check(true, "it agrees to be closed");

  const { universeId: empty } = await tool("create_universe", { name: "empty" });
  await open("dark", { serverTools: {} });
  await tell("get_universe_state", { universeId: empty });
  check(await says("0 bodies"), "an empty universe");
  await tell("get_universe_state", { universeId: "none" });
  check(await says("failed"), "a failure is said");
  check(problems.length === 0, `no error, and nothing from elsewhere ${problems.join(" | ")}`);
} finally {
  await browser.close();
  pages.close();
  fs.rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
