// The star-map server: finding a way, seeing it, missing one system.
import { check, REVISIONS } from "./harness.mjs";
import { read } from "./universe.mjs";

const TOOLS = [
  "route", "systems", "borders", "search", "loop", "analyze", "nearest", "optimize_waypoints", "distances", "jump_range",
];

/** The names of systems that are told as rows under columns. */
const names = ({ columns, systems }) => systems.map((system) => system[columns.indexOf("name")]);

/** The error of a tool that refuses, as its text tells it. */
function refusal(result) {
  check.equal(result.isError, true, "it is a tool error");
  return JSON.parse(result.content[0].text).error;
}

/** Puts one client through it. `open` is what a client script offers; see `everything.mjs`. */
export async function starmap(open, { era }) {
  const peer = await open({ capabilities: {} });
  check.equal(peer.version, REVISIONS[era], "negotiated version");
  const { client } = peer;
  const listed = (await client.listTools()).tools.map((tool) => tool.name);
  for (const name of TOOLS) check.ok(listed.includes(name), `tools/list lacks ${name}: ${listed}`);

  const call = async (name, args) => read(await peer.call({ name, arguments: args }));
  const ends = { origin: "jita", destination: "AMARR" };
  const route = await call("route", ends);
  check.equal(names(route), ["Jita", "Marrow", "Tarn", "Amarr"], "the shortest way");
  const safe = await call("route", { ...ends, mode: "safe", detail: "names" });
  check.equal(safe.names, ["Jita", "Ostra", "Velm", "Kestrel", "Pell", "Amarr"], "the safe way");
  check.equal((await call("systems", { systems: ["Amarr", "Nowhere"] })).not_found, ["Nowhere"], "unknown systems");
  check.equal((await call("distances", { systems: ["Jita", "Amarr"] })).jumps, [["Jita"], ["Amarr", 3]], "distances");
  check.equal((await call("borders", { origin: "Jita", max_jumps: 3 })).total_found, 3, "border systems");

  const unknown = refusal(await peer.call({ name: "route", arguments: { origin: "Juta", destination: "Amarr" } }));
  check.equal(unknown.code, "SYSTEM_NOT_FOUND", "code of an unknown system");
  check.equal(unknown.data, { suggestions: ["Jita"] }, "suggestions");
  const wrong = refusal(await peer.call({ name: "borders", arguments: { origin: "Jita", limit: 51 } }));
  check.equal([wrong.code, wrong.data.parameter, wrong.data.value], ["INVALID_PARAMETER", "limit", "51"], "a wrong limit");

  const regions = (await client.listResources()).resources.map((resource) => resource.name);
  check.equal(regions, ["Farvoid", "Northmark", "Southreach"], "regions");
  const text = async (uri) => (await client.readResource({ uri })).contents[0].text;
  check.equal(JSON.parse(await text("starmap://system/Jita")).system_id, 30000001, "a system as a resource");
  check.match(await text("starmap://picture/route/Jita/Amarr"), /^<svg /, "a picture");
  const { completion } = await client.complete({
    ref: { type: "ref/resource", uri: "starmap://system/{name}" },
    argument: { name: "name", value: "mar" },
  });
  check.equal(completion.values, ["Marrow", "Amarr"], "completion");
  const prompt = await client.getPrompt({ name: "plan_haul", arguments: { origin: "Jita", destination: "Amarr" } });
  check.match(prompt.messages[0].content.text, /shortest: 3 jumps/, "a prompt with facts");
  await peer.end();
  return { version: peer.version, tools: listed.length };
}
