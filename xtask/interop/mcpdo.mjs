// mcpdo of npm @modelcontextprotocol/inspector: the Inspector with connections that last, one process for each command
// and a background process of its own that holds them.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { check, parseArguments, report, REVISIONS, within } from "./harness.mjs";

const WATCHED = "test://watched-resource";
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";
/** Each command is a process that has to start, on a machine that may be busy. */
const PATIENCE_MS = 60_000;
const CANNOT = {
  progress: "it prints none",
  sampling: "it has no way to answer; what the server says to such a client is checked",
  cancellation: "it has no way to give up a call",
  "list changes": "it keeps them to itself",
};

const options = parseArguments(process.argv.slice(2));
const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
const binary = path.join(path.dirname(manifest), "clients/mcpdo/build/mcp-bin.js");

/** Runs one command and gives back what it printed. The rest of its words are about where it keeps secrets. */
function mcpdo(env, ...args) {
  return new Promise((resolve, reject) => {
    const done = (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const told = stderr.split("\n").find((line) => line.startsWith('{"error"'));
      return reject(told ? Object.assign(new Error(), JSON.parse(told).error) : new Error(stderr || stdout));
    };
    execFile(process.execPath, [binary, ...args], { env, timeout: PATIENCE_MS }, done).stdin.end();
  });
}

async function everything() {
  for (const [what, reason] of Object.entries(CANNOT)) check.skip(what, reason);
  // Its socket: a path that is short enough, that nobody else has, and that goes away.
  const folder = await mkdtemp(path.join(os.tmpdir(), "mcpdo-"));
  const env = { ...process.env, MCP_INSPECTOR_DAEMON_DIR: folder, MCP_INSPECTOR_SECRET_STORE: "memory" };
  const daemon = async (...args) => JSON.parse((await mcpdo(env, "--format", "json", "daemon", ...args)) || "{}");
  try {
    // Ends while there is still time to stop the background process.
    return await within("everything", connected(env), 3 * PATIENCE_MS);
  } finally {
    await daemon("stop");
    await rm(folder, { recursive: true, force: true });
  }
}

async function connected(env) {
  const name = `everything-${options.suffix}`;
  const target = options.url ? [options.url] : ["--transport", "stdio", "--", options.command, ...options.args];
  await mcpdo(env, "--format", "json", "connect", "--connection", name, "--era", options.era, ...target);
  const run = async (...args) => JSON.parse(await mcpdo(env, "--format", "json", "--connection", name, ...args));
  const { serverInfo, protocolVersion } = await run("connections/show");
  check.equal([serverInfo.name, protocolVersion], ["everything", REVISIONS[options.era]], "server and version");
  const text = async (tool, args = {}) => said(await run("tools/call", tool, JSON.stringify(args)));
  check.match(await text("test_simple_text"), /^This is a simple text/, "text");
  await completion(run);
  await elicitation(run, text);
  const refused = await text("test_sampling", { prompt: "?" }).catch((error) => error.message);
  check.match(refused, /sampling/, "a tool that needs what it lacks");
  await run("roots/set", "--roots-json", JSON.stringify([{ uri: "file:///home/ada" }]));
  check.equal(await text("test_input_required_result_list_roots"), "Roots: file:///home/ada", "roots");
  await streams(env, name, run);
  await mcpdo(env, "--format", "json", "disconnect", name);
  return { version: protocolVersion };
}

const said = ({ content }) => content?.[0].text;

async function completion(run) {
  const complete = async (type, ref, name, value) => {
    const args = ["--complete-ref-type", type, "--complete-ref", ref];
    const answer = await run("prompts/complete", ...args, "--complete-arg-name", name, "--complete-arg-value", value);
    return answer.values ?? answer.completion.values;
  };
  const first = await complete("ref/prompt", "test_prompt_with_arguments", "arg1", "te");
  check.equal(first, ["test1", "test2"], "completion of a prompt's argument");
  const second = await complete("ref/resource", "test://template/{id}/data", "id", "12");
  check.equal(second, ["12", "123"], "completion of a template's variable");
}

/** The call waits in the background until its question is answered by a command of its own. */
async function elicitation(run, text) {
  const ask = async (tool, args = {}) => {
    const { elicitationPending } = await run("tools/call", tool, JSON.stringify(args));
    check.ok(elicitationPending, `${tool} asks`);
    return elicitationPending;
  };
  const answer = ({ elicitationId }, ...fields) => run("elicitation/respond", elicitationId, ...fields);
  const person = { username: "ada", email: "ada@example.org" };
  const who = await ask("test_elicitation", { message: "Who are you?" });
  check.equal([who.message, who.requestedSchema.required], ["Who are you?", ["username", "email"]], "the form");
  const filled = said(await answer(who, JSON.stringify(person)));
  check.equal(JSON.parse(filled.replace("User response: ", "")), { action: "accept", content: person }, "an answer");
  const declined = said(await answer(await ask("test_elicitation", { message: "Really?" }), "--decline"));
  check.match(declined, /"decline"/, "a form that is declined");
  const first = await ask("test_input_required_result_multi_round");
  const { elicitationPending: second } = await answer(first, "name:=Ada");
  check.match(second?.message, /^Step 2/, "the second of two questions");
  check.equal(said(await answer(second, "color:=green")), "Ada likes green.", "two questions in turn");
  check.match(await text("test_simple_text"), /^This is a simple text/, "the next call");
}

/** Commands that go on printing until they are ended. They do not say when they begin, so the tool is called again. */
async function streams(env, name, run) {
  const hear = async (what, args, tool, pattern) => {
    const child = spawn(process.execPath, [binary, "--format", "json", "--connection", name, ...args], {
      env, stdio: ["ignore", "pipe", "ignore"],
    });
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    const heard = async () => {
      while (!pattern.test(printed)) await run("tools/call", tool, "--tool-metadata", `${LOG_LEVEL}=info`);
    };
    await within(what, heard(), PATIENCE_MS).finally(() => child.kill());
    check.match(printed, pattern, what);
  };
  await hear("an update", ["resources/subscribe", WATCHED], "test_trigger_resource_change", /resources\/updated/);
  await hear("a log message", ["logging/tail"], "test_logging_tool", /Tool execution completed/);
}

await report("mcpdo", options, everything);
