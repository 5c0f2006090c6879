// What every Node.js client is put through, whichever package speaks the protocol.
import assert from "node:assert/strict";

const TOOLS = ["get_universe_state", "list_universe_commands", "send_universe_command"];
export const REVISIONS = { legacy: "2025-11-25", modern: "2026-07-28" };

/** Reads `--url URL` or `--command CMD ARGS…` (last), `--era legacy|modern` and `--suffix TEXT`. */
export function parseArguments(argv) {
  const options = { era: "legacy", suffix: "x" };
  for (let i = 0; i < argv.length; i += 1) {
    const name = argv[i];
    if (name === "--command") {
      [options.command, ...options.args] = argv.slice(i + 1);
      break;
    }
    assert.ok(["--url", "--era", "--suffix"].includes(name), `unknown argument ${name}`);
    options[name.slice(2)] = argv[(i += 1)];
  }
  assert.ok(options.url || options.command, "give --url URL or --command CMD ARGS…");
  assert.ok(options.era in REVISIONS, `--era is legacy or modern, not ${options.era}`);
  return options;
}

/** A star with a planet with a moon, as three addStar commands. */
export function smallSystem(suffix) {
  const body = (kind, parentId, orbitalDistance) => ({
    type: "addStar",
    id: `interop-${kind}-${suffix}`,
    payload: {
      name: `Interop ${kind} ☀ ${suffix}`,
      color: "#ffcc00",
      mass: 0.1,
      radius: 1.5,
      parentId,
      orbitalDistance,
      orbitalSpeed: 1e-7,
      orbitalPhase: 30,
      bodyType: kind,
    },
  });
  const star = body("star", null, 0);
  const planet = body("planet", star.id, 10);
  const moon = body("moon", planet.id, 0.25);
  return [star, planet, moon];
}

/** The JSON of a tool result, which has to be the same as text and as structured content. */
export function read(result) {
  assert.ok(!result.isError, `unexpected isError: ${JSON.stringify(result.content)}`);
  assert.equal(result.content.length, 1, "one content block");
  assert.equal(result.content[0].type, "text");
  const value = JSON.parse(result.content[0].text);
  assert.deepEqual(result.structuredContent, value, "structuredContent equals the text");
  return value;
}

export function checkTools(tools) {
  const names = tools.map((tool) => tool.name);
  for (const name of TOOLS) assert.ok(names.includes(name), `tools/list lacks ${name}: ${names}`);
  for (const tool of tools) assert.equal(tool.inputSchema.type, "object", `${tool.name} takes an object`);
  return names.length;
}

export function checkCategories(value) {
  assert.equal(value.categories.length, 10, "ten categories");
  const commands = value.categories.flatMap((category) => category.commands);
  assert.equal(new Set(commands.map((command) => command.type)).size, 25, "25 commands");
}

/** The answer to one addStar command of the system. */
export function checkAdded(value, { id, payload }) {
  assert.deepEqual(value.events, [{ type: "starAdded", id }]);
  const { children, ...star } = value.nextState.stars[id];
  assert.deepEqual(star, { id, ...payload });
  assert.deepEqual(children, []);
}

/** The system as the universe tells it afterwards. */
export function checkState(state, [star, planet, moon]) {
  assert.ok(state.rootIds.includes("sun") && state.rootIds.includes(star.id), "both roots are there");
  assert.equal(state.stars.earth.parentId, "sun");
  assert.deepEqual(state.stars[star.id].children, [planet.id]);
  assert.deepEqual(state.stars[planet.id].children, [moon.id]);
  assert.equal(state.stars[moon.id].name, moon.payload.name);
}

/** The answer about a universe that does not exist. */
export function checkMissing(result) {
  assert.equal(result.isError, true, "a missing universe is a tool error");
  const { error } = JSON.parse(result.content[0].text);
  assert.match(error.code, /^[A-Z][A-Z_]*$/);
  assert.match(error.message, /u-missing/);
  if (result.structuredContent !== undefined) assert.deepEqual(result.structuredContent, { error });
}

/** Runs everything over an open client: `{version, listTools(), callTool(name, args), close()}`. */
export async function run(client, { era, suffix }) {
  assert.equal(client.version, REVISIONS[era], "negotiated version");
  const tools = checkTools(await client.listTools());
  const call = async (name, args) => read(await client.callTool(name, args));
  checkCategories(await call("list_universe_commands", { universeId: "sol" }));
  const system = smallSystem(suffix);
  for (const command of system) {
    checkAdded(await call("send_universe_command", { universeId: "sol", command }), command);
  }
  checkState(await call("get_universe_state", { universeId: "sol" }), system);
  checkMissing(await client.callTool("get_universe_state", { universeId: "u-missing" }));
  await client.close();
  return { version: client.version, tools };
}

/** Prints one line of JSON and exits: 0 when `work` came through, 1 when not. */
export async function report(name, options, work) {
  const { era, url } = options;
  const head = { client: name, era, transport: url ? "http" : "stdio" };
  try {
    console.log(JSON.stringify({ ...head, ok: true, ...(await work()) }));
    process.exit(0);
  } catch (error) {
    console.log(JSON.stringify({ ...head, ok: false, error: String(error?.message ?? error) }));
    console.error(error);
    process.exit(1);
  }
}
