// The fixture mcp-proto/examples/everything.rs through the Inspector's command line. It has one request for each
// connection, asks nobody anything and prints results only; `mcpdo.mjs` has connections that last.
import { check, REVISIONS } from "./harness.mjs";

const TOOL_ERROR_EXIT_CODE = 5;

const CANNOT = {
  completion: "its command line has no method for it",
  progress: "it asks for none",
  "log messages": "it prints results only",
  "elicitation and sampling": "it declares neither; what the server says then is checked",
  cancellation: "it has no way to give up a call but to end",
  subscriptions: "its connection ends with its one request",
};

export async function everything(inspect, call, { era }) {
  for (const [what, reason] of Object.entries(CANNOT)) check.skip(what, reason);
  const well = async (method, ...rest) => {
    const { code, result, error } = await inspect(method, ...rest);
    check.equal([code, error], [0, undefined], `exit code and error of ${method} ${rest.join(" ")}`);
    return result;
  };
  const said = async (name, args = {}) => {
    const { code, result } = await call(name, args);
    check.equal(code, 0, `exit code of ${name}`);
    return result.content;
  };
  const { serverInfo, protocolVersion, instructions } = await well("initialize");
  check.equal([serverInfo.name, protocolVersion], ["everything", REVISIONS[era]], "server and version");
  check.match(instructions, /^Call test_simple_text/, "instructions");
  await reading(well);
  await contents(said);
  await refusals(inspect, call);
  if (era === "legacy") check.equal(await well("logging/setLevel", "--log-level", "info"), {}, "logging/setLevel");
  else check.skip("logging/setLevel", "the modern era has none");
  await skills(inspect, well);
  // It has no roots without a configuration, but it can be asked for them.
  check.equal((await said("test_input_required_result_list_roots"))[0].text, "Roots: ", "roots");
  return { version: protocolVersion };
}

async function reading(well) {
  const names = (await well("resources/list")).resources.map(({ uri }) => uri);
  check.ok(names.includes("test://static-text") && names.includes("test://static-binary"), `resources: ${names}`);
  const [template] = (await well("resources/templates/list")).resourceTemplates;
  check.equal(template.uriTemplate, "test://template/{id}/data", "resource template");
  const read = async (uri) => (await well("resources/read", "--uri", uri)).contents[0];
  check.match((await read("test://static-text")).text, /^This is the content/, "text resource");
  checkPicture((await read("test://static-binary")).blob, "binary resource");
  check.equal(JSON.parse((await read("test://template/12/data")).text).id, "12", "resource of a template");

  const prompts = (await well("prompts/list")).prompts.map(({ name }) => name);
  check.ok(prompts.includes("test_prompt_with_arguments"), `prompts: ${prompts}`);
  const get = async (name, ...args) => {
    const given = args.length ? ["--prompt-args", ...args] : [];
    return (await well("prompts/get", "--prompt-name", name, ...given)).messages.map(({ content }) => content);
  };
  const [filled] = await get("test_prompt_with_arguments", "arg1=eins", "arg2=zwei");
  check.equal(filled.text, "Prompt with arguments: arg1='eins', arg2='zwei'", "prompt with arguments");
  const [embedded] = await get("test_prompt_with_embedded_resource", "resourceUri=test://somewhere");
  check.equal(embedded.resource.uri, "test://somewhere", "embedded resource of a prompt");
  const [picture] = await get("test_prompt_with_image");
  checkPicture(picture.data, "picture of a prompt");
}

/** The one client here that knows skills: it reads each file and compares it with its digest. */
async function skills(inspect, well) {
  const names = (await well("skills/list")).skills.map(({ frontmatter }) => frontmatter.name);
  check.equal(names.sort(), ["fill-in-forms", "greetings"], "skills");
  const { code, reports } = await inspect("skills/list", "--verify", "--require-digests");
  check.equal([code, reports.map(({ outcome }) => outcome)], [0, ["verified", "verified"]], "files of the skills");
  const { skill } = await well("skills/get", "--uri", "skill://greetings/SKILL.md");
  check.equal(skill.frontmatter.name, "greetings", "one skill");
  const { resources } = await well("resources/directory/read", "--uri", "skill://fill-in-forms");
  const kinds = resources.map(({ uri, mimeType }) => [uri, mimeType]);
  check.equal(kinds, [
    ["skill://fill-in-forms/SKILL.md", "text/markdown"],
    ["skill://fill-in-forms/references", "inode/directory"],
  ], "folder of a skill");
}

async function contents(said) {
  check.match((await said("test_simple_text"))[0].text, /^This is a simple text/, "text");
  const [image] = await said("test_image_content");
  check.equal(image.mimeType, "image/png", "picture");
  checkPicture(image.data, "picture");
  const [audio] = await said("test_audio_content");
  check.equal(Buffer.from(audio.data, "base64").toString("latin1", 0, 4), "RIFF", "sound");
  const [embedded] = await said("test_embedded_resource");
  check.equal(embedded.resource.uri, "test://embedded-resource", "embedded resource");
  const kinds = (await said("test_multiple_content_types")).map(({ type }) => type);
  check.equal(kinds, ["text", "image", "resource"], "several kinds of content");
  const value = " ünïcode ☀ ";
  check.equal((await said("test_custom_header", { value }))[0].text, `The value is ${value}.`, "a repeated argument");
}

async function refusals(inspect, call) {
  const failed = await call("test_error_handling", {});
  check.equal([failed.code, failed.error.code], [TOOL_ERROR_EXIT_CODE, "tool_is_error"], "a tool that fails");
  check.match(failed.result.content[0].text, /intentionally returns an error/, "what it says");
  check.skip("an unknown tool", "it looks for the tool in the list and never calls it");
  const refused = async (pattern, method, ...rest) => {
    const { code, error } = await inspect(method, ...rest);
    check.equal(code, 1, `exit code of ${method} ${rest.join(" ")}`);
    check.match(error.message, pattern, `error of ${method} ${rest.join(" ")}`);
  };
  await refused(/test:\/\/no-such-resource/, "resources/read", "--uri", "test://no-such-resource");
  await refused(/no_such_prompt/, "prompts/get", "--prompt-name", "no_such_prompt");
  await refused(/arg2/, "prompts/get", "--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=eins");
  for (const [name, args, lacks] of [
    ["test_sampling", { prompt: "?" }, /sampling/],
    ["test_elicitation", { message: "?" }, /elicitation/],
  ]) {
    const { code, error } = await call(name, args);
    check.equal(code, 1, `exit code of ${name}`);
    check.match(error.message, lacks, `error of ${name}`);
  }
}

function checkPicture(data, what) {
  check.equal(Buffer.from(data, "base64").toString("latin1", 1, 4), "PNG", `bytes of the ${what}`);
}
