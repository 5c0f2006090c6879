// The universe server: adding a small system, reading it back, missing one universe.
import { check, REVISIONS } from "./harness.mjs";

const TOOLS = ["get_universe_state", "list_universe_commands", "send_universe_command"];

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
  check.ok(!result.isError, `unexpected isError: ${JSON.stringify(result.content)}`);
  check.equal(result.content.length, 1, "one content block");
  check.equal(result.content[0].type, "text", "kind of content");
  const value = JSON.parse(result.content[0].text);
  check.equal(result.structuredContent, value, "structuredContent equals the text");
  return value;
}

export function checkTools(tools) {
  const names = tools.map((tool) => tool.name);
  for (const name of TOOLS) check.ok(names.includes(name), `tools/list lacks ${name}: ${names}`);
  for (const tool of tools) check.equal(tool.inputSchema.type, "object", `${tool.name} takes an object`);
  return names.length;
}

export function checkCategories(value) {
  check.equal(value.categories.length, 10, "ten categories");
  const commands = value.categories.flatMap((category) => category.commands);
  check.equal(new Set(commands.map((command) => command.type)).size, 25, "25 commands");
}

/** The answer to one addStar command of the system: the id, without what was sent. */
export function checkAdded(value, { id }) {
  check.equal(value.events, [{ type: "starAdded", id }], "events");
  check.equal(value.changes.stars[id], {}, "what was not sent of the star");
}

/** The system as the universe tells it afterwards. */
export function checkState(state, [star, planet, moon]) {
  check.ok(state.rootIds.includes("sun") && state.rootIds.includes(star.id), "both roots are there");
  check.equal(state.stars.earth.parentId, "sun", "what Earth circles");
  check.equal(state.stars[star.id].children, [planet.id], "planets of the star");
  check.equal(state.stars[planet.id].children, [moon.id], "moons of the planet");
  check.equal(state.stars[moon.id].name, moon.payload.name, "name of the moon");
}

/** The answer about a universe that does not exist. */
export function checkMissing(result) {
  check.equal(result.isError, true, "a missing universe is a tool error");
  const { error } = JSON.parse(result.content[0].text);
  check.match(error.code, /^[A-Z][A-Z_]*$/, "code of the error");
  check.match(error.message, /u-missing/, "message of the error");
  if (result.structuredContent !== undefined) check.equal(result.structuredContent, { error }, "structured error");
}

/** Puts one client through it. `open` is what a client script offers; see `everything.mjs`. */
export async function universe(open, { era, suffix }) {
  const peer = await open({ capabilities: {} });
  check.equal(peer.version, REVISIONS[era], "negotiated version");
  const tools = checkTools((await peer.client.listTools()).tools);
  const call = async (name, args) => read(await peer.call({ name, arguments: args }));
  checkCategories(await call("list_universe_commands", { universeId: "sol" }));
  const system = smallSystem(suffix);
  for (const command of system) {
    checkAdded(await call("send_universe_command", { universeId: "sol", command }), command);
  }
  checkState(await call("get_universe_state", { universeId: "sol" }), system);
  checkMissing(await peer.call({ name: "get_universe_state", arguments: { universeId: "u-missing" } }));
  await peer.end();
  return { version: peer.version, tools };
}
