// The spec server on the project services/spec-server/tests/fixtures/library: its eight tools, resources, prompts.
import { check, REVISIONS } from "./harness.mjs";
import { read } from "./universe.mjs";

const TOOLS = [
  "get_change", "get_scenario", "get_spec_requirements", "list_changes", "list_specs", "search_specs", "validate_change",
  "validate_spec",
];

/** Puts one client through it. `open` is what a client script offers; see `everything.mjs`. */
export async function specs(open, { era }) {
  const peer = await open({ capabilities: {} });
  const { client } = peer;
  check.equal(peer.version, REVISIONS[era], "negotiated version");
  check.equal(client.getServerVersion().name, "spox", "name of the server");
  check.match(client.getInstructions(), /list_specs/, "instructions");
  const { tools } = await client.listTools();
  for (const name of TOOLS) {
    const tool = tools.find((listed) => listed.name === name);
    check.ok(tool, `tools/list lacks ${name}`);
    check.equal(tool.annotations.readOnlyHint, true, `${name} only reads`);
    check.equal(tool.outputSchema.type, "object", `output schema of ${name}`);
  }
  // Both clients check the structured results against the output schemas that they have listed.
  const call = async (name, args = {}) => read(await peer.call({ name, arguments: args }));
  const refused = async (code, name, args) => {
    const result = await peer.call({ name, arguments: args });
    check.equal(result.isError, true, `${name} ${JSON.stringify(args)} is a tool error`);
    const { error } = JSON.parse(result.content[0].text);
    check.equal(error.code, code, `code of ${name} ${JSON.stringify(args)}`);
    return error;
  };
  await reading(call, refused);
  await changes(call, refused);
  await besides(client);
  await peer.end();
  return { version: peer.version, tools: tools.length };
}

async function reading(call, refused) {
  const { specs } = await call("list_specs");
  check.equal(specs.map((spec) => spec.id), ["lending", "members", "notices"], "ids of the specs");
  check.equal(Object.keys(specs[0]).sort(), ["id", "purpose", "title"], "members of a spec in the list");

  const requirements = await call("get_spec_requirements", { spec_id: "lending" });
  check.equal(requirements.spec_id, "lending", "spec of the requirements");
  const counts = requirements.requirements.map(({ name, scenario_count }) => [name, scenario_count]);
  check.equal(counts, [["Loan", 2], ["Renewal", 2], ["Return", 1]], "requirements with their scenarios");

  const first = await call("get_scenario", { spec_id: "lending", requirement: "Loan" });
  check.equal(first.name, "Copy is free", "first scenario");
  check.equal(first.given, ["a member without a fine"], "what is given");
  const second = await call("get_scenario", { spec_id: "lending", requirement: "loan", scenario: "copy is lent already" });
  check.equal(second.when, "the member asks for a copy\nAND somebody else has it", "when");
  check.equal(second.then, ["the loan is refused", "the earliest day of return is told"], "then");

  const { results, ranker } = await call("search_specs", { query: "erase what is known of a person", top_k: 3 });
  check.equal([results[0].spec_id, results[0].requirement], ["members", "Deletion"], "best result");
  check.ok(results.every(({ score }, i) => i === 0 || score <= results[i - 1].score), "descending scores");
  check.equal(ranker, "bm25", "ranker");
  check.equal((await call("search_specs", { query: "quaternion" })).results, [], "results for what is nowhere");

  const validated = await call("validate_spec", { strict: true });
  check.equal([validated.valid, validated.errors], [true, []], "verdict on all specs");
  const one = await call("validate_spec", { spec_id: "members" });
  check.match(one.summary, /members/, "summary for one spec");

  const missing = await refused("SPEC_NOT_FOUND", "get_spec_requirements", { spec_id: "lendings" });
  check.equal(missing.data.nearest[0], "lending", "the nearest id");
  await refused("INVALID_ID", "get_spec_requirements", { spec_id: "../../etc" });
  await refused("SCENARIO_NOT_FOUND", "get_scenario", { spec_id: "lending", requirement: "Loan", scenario: "None" });
}

async function changes(call, refused) {
  const { changes } = await call("list_changes");
  check.equal(changes.map((change) => change.id), ["add-reservations", "shorten-notice"], "ids of the changes");
  check.equal(changes[0].task_progress, { completed: 2, total: 4 }, "progress");

  const change = await call("get_change", { change_id: "add-reservations" });
  check.match(change.proposal.why, /^Members ask/, "why");
  check.match(change.design, /queue belongs/, "design");
  check.equal(Object.keys(change.deltas), ["lending", "reservations"], "capabilities");
  check.equal(change.deltas.lending.items.map((item) => item.operation), ["modified", "added"], "operations");
  const tasks = await call("get_change", { change_id: "add-reservations", section: "tasks" });
  check.equal(Object.keys(tasks).sort(), ["change_id", "tasks"], "members of one section");
  await refused("INVALID_ARGUMENTS", "get_change", { change_id: "add-reservations", section: "impact" });
  await refused("CHANGE_NOT_FOUND", "get_change", { change_id: "add-reservation" });

  const validated = await call("validate_change", {});
  check.equal([validated.valid, validated.errors], [true, []], "verdict on all changes");
  const preview = await call("preview_change", { change_id: "add-reservations" });
  check.ok(preview.applicable && preview.specs[0].diff.includes("+### Requirement: Hold"), "preview");
}

async function besides(client) {
  const { resources } = await client.listResources();
  check.ok(resources.some(({ uri }) => uri === "spec://lending"), "a spec among the resources");
  const { contents } = await client.readResource({ uri: "change://add-reservations" });
  check.equal(contents[0].mimeType, "text/markdown", "kind of resource");
  check.match(contents[0].text, /## Why/, "text of a change");
  const { resourceTemplates } = await client.listResourceTemplates();
  const uris = resourceTemplates.map((template) => template.uriTemplate).sort();
  check.equal(uris, ["change://{id}", "spec://{+id}"], "templates");
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "implement_change" },
    argument: { name: "change_id", value: "add" },
  });
  check.equal(completion.values, ["add-reservations"], "completed id");
  const prompt = await client.getPrompt({ name: "implement_change", arguments: { change_id: "add-reservations" } });
  check.match(prompt.messages[0].content.text, /2\.1/, "open tasks in the prompt");
  check.equal(prompt.messages[1].content.resource.uri, "change://add-reservations", "resource in the prompt");
}
