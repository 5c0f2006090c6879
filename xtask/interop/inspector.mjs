// npm @modelcontextprotocol/inspector: its command line, one process and one connection for each request.
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { check, parseArguments, report, REVISIONS } from "./harness.mjs";
import { everything } from "./inspector-everything.mjs";
import { checkAdded, checkCategories, checkMissing, checkState, checkTools, read, smallSystem } from "./universe.mjs";

const TOOL_ERROR_EXIT_CODE = 5;

const options = parseArguments(process.argv.slice(2));
const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
const binary = path.join(path.dirname(manifest), "clients/launcher/build/index.js");

/** Runs one method and gives back its exit code, what it printed and the error it told. */
function inspect(method, ...rest) {
  const target = options.url
    ? ["--transport", "http", "--server-url", options.url]
    : ["--transport", "stdio", options.command, ...options.args];
  const args = [binary, "--cli", "--protocol-era", options.era, "--format", "json", "--quiet", "--method", method, ...rest];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...args, ...target], { timeout: 60_000, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const code = error ? error.code : 0;
      try {
        const told = stderr.split("\n").find((line) => line.startsWith('{"error"'));
        // A check of skills prints one line for each; everything else one result.
        const printed = stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
        resolve({ code, result: printed[0]?.result, reports: printed, error: told && JSON.parse(told).error });
      } catch {
        reject(new Error(`${method} exited with ${code}: ${stderr || stdout}`));
      }
    });
  });
}

const call = (name, args) =>
  inspect("tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args));

async function callWell(name, args) {
  const { code, result } = await call(name, args);
  check.equal(code, 0, `exit code of ${name}`);
  return read(result);
}

async function universe() {
  const { code, result } = await inspect("tools/list");
  check.equal(code, 0, "exit code of tools/list");
  const tools = checkTools(result.tools);
  checkCategories(await callWell("list_universe_commands", { universeId: "sol" }));

  const system = smallSystem(options.suffix);
  if (options.url) {
    for (const command of system) {
      checkAdded(await callWell("send_universe_command", { universeId: "sol", command }), command);
    }
    checkState(await callWell("get_universe_state", { universeId: "sol" }), system);
  } else {
    // Over stdio each call is a server of its own that keeps nothing: the answer itself is what can be read back.
    const [star] = system;
    checkAdded(await callWell("send_universe_command", { universeId: "sol", command: star }), star);
    check.skip("reading back what was added", "over stdio each call has a server of its own");
  }

  const missing = await call("get_universe_state", { universeId: "u-missing" });
  check.equal(missing.code, TOOL_ERROR_EXIT_CODE, "exit code of a tool error");
  checkMissing(missing.result);
  return { version: REVISIONS[options.era], tools };
}

await report("inspector", options, () =>
  options.scenario === "universe" ? universe() : everything(inspect, call, options),
);
