// The fixture mcp-proto/examples/everything.rs: what it offers, then what it asks, then what it tells.
import { ANSWERS, asking, CAPABILITIES } from "./asking.mjs";
import { check, REVISIONS } from "./harness.mjs";
import { telling } from "./telling.mjs";

const STATIC = "This is the content of the static text resource.";
const INVALID_PARAMS = -32602;

/**
 * Puts one client through it. `open({capabilities, answers, sessionId, revision})` is what a client script offers: it
 * gives back a `Peer` that is connected. `open.revisions` are the older revisions that the client can be told to use.
 */
export async function everything(open, options) {
  const peer = await open({ capabilities: {} });
  check.equal(peer.version, REVISIONS[options.era], "negotiated version");
  introduction(peer);
  await resources(peer);
  await prompts(peer);
  await completions(peer);
  await contents(peer);
  await refusals(peer);
  await crowd(peer);
  await peer.end();
  await unlisted(open);
  await asking(open, options);
  await telling(open, options);
  await revisions(open, options);
  return { version: peer.version };
}

function introduction({ client }) {
  check.equal(client.getServerVersion().name, "everything", "name of the server");
  check.equal(client.getInstructions(), "Call test_simple_text to see that it works.", "instructions");
  const { tools, resources, prompts, completions, logging } = client.getServerCapabilities();
  check.equal(tools, { listChanged: true }, "tools capability");
  check.equal(resources, { listChanged: true, subscribe: true }, "resources capability");
  check.equal(prompts, { listChanged: true }, "prompts capability");
  check.equal([completions, logging], [{}, {}], "completions and logging capabilities");
}

async function resources({ client }) {
  const { resources } = await client.listResources();
  const text = resources.find(({ uri }) => uri === "test://static-text");
  check.equal([text?.name, text?.mimeType], ["static-text", "text/plain"], "the text resource in the list");
  const { resourceTemplates } = await client.listResourceTemplates();
  const templates = resourceTemplates.map(({ uriTemplate, mimeType }) => [uriTemplate, mimeType]);
  check.equal(templates, [["test://template/{id}/data", "application/json"]], "resource templates");

  const read = async (uri) => (await client.readResource({ uri })).contents;
  check.equal(
    await read("test://static-text"),
    [{ uri: "test://static-text", mimeType: "text/plain", text: STATIC }],
    "text resource",
  );
  const [blob, ...rest] = await read("test://static-binary");
  check.equal([blob.uri, blob.mimeType, rest.length], ["test://static-binary", "image/png", 0], "binary resource");
  checkPicture(blob.blob, "binary resource");
  const uri = "test://template/12/data";
  const [item] = await read(uri);
  check.equal([item.uri, item.mimeType], [uri, "application/json"], "resource of a template");
  const data = { id: "12", templateTest: true, data: "Data for ID: 12" };
  check.equal(JSON.parse(item.text), data, "contents of a template's resource");
}

async function prompts({ client }) {
  const { prompts } = await client.listPrompts();
  const two = prompts.find(({ name }) => name === "test_prompt_with_arguments");
  const declared = two.arguments.map(({ name, description, required }) => [name, description, required]);
  check.equal(declared, [["arg1", "The first.", true], ["arg2", "The second.", true]], "arguments of a prompt");

  const get = async (name, args) => (await client.getPrompt({ name, arguments: args })).messages;
  const text = (text) => ({ role: "user", content: { type: "text", text } });
  check.equal(await get("test_simple_prompt"), [text("This is a simple prompt for testing.")], "prompt");
  check.equal(
    await get("test_prompt_with_arguments", { arg1: "eins", arg2: "zwei ☀" }),
    [text("Prompt with arguments: arg1='eins', arg2='zwei ☀'")],
    "prompt with arguments",
  );
  const [embedded, after] = await get("test_prompt_with_embedded_resource", { resourceUri: "test://somewhere" });
  const resource = { uri: "test://somewhere", mimeType: "text/plain", text: "Embedded resource content for testing." };
  check.equal(embedded, { role: "user", content: { type: "resource", resource } }, "embedded resource of a prompt");
  check.equal(after.content.type, "text", "what follows it");
  const [picture] = await get("test_prompt_with_image");
  check.equal([picture.content.type, picture.content.mimeType], ["image", "image/png"], "picture of a prompt");
  checkPicture(picture.content.data, "picture of a prompt");
}

async function completions({ client }) {
  const complete = async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion;
  const prompt = { type: "ref/prompt", name: "test_prompt_with_arguments" };
  const first = await complete(prompt, "arg1", "te");
  check.equal(first.values, ["test1", "test2"], "completion of a prompt's argument");
  check.equal([first.total ?? 2, first.hasMore ?? false], [2, false], "size of the completion");
  check.equal((await complete(prompt, "arg2", "te")).values, [], "completion of an argument that has none");
  const template = { type: "ref/resource", uri: "test://template/{id}/data" };
  check.equal((await complete(template, "id", "12")).values, ["12", "123"], "completion of a template's variable");
  const nobody = { type: "ref/prompt", name: "no_such_prompt" };
  await check.refused(() => complete(nobody, "arg1", ""), [INVALID_PARAMS], "completion for an unknown prompt");
}

async function contents({ client, call }) {
  const { tools } = await client.listTools();
  const person = tools.find(({ name }) => name === "json_schema_2020_12_tool").inputSchema;
  check.equal(person.$schema, "https://json-schema.org/draft/2020-12/schema", "dialect of a schema");
  check.equal(person.$defs.address.$anchor, "addressDef", "anchor in a schema");
  check.equal([person.then, person.else], [{ required: ["phone"] }, { required: ["email"] }], "conditions of a schema");

  const content = async (name, args = {}) => {
    const result = await call({ name, arguments: args });
    check.ok(!result.isError, `${name} fails: ${JSON.stringify(result.content)}`);
    return result.content;
  };
  const text = { type: "text", text: "This is a simple text response for testing." };
  check.equal(await content("test_simple_text"), [text], "text");
  const [image] = await content("test_image_content");
  check.equal([image.type, image.mimeType], ["image", "image/png"], "picture");
  checkPicture(image.data, "picture");
  const [audio] = await content("test_audio_content");
  check.equal([audio.type, audio.mimeType], ["audio", "audio/wav"], "sound");
  check.equal(Buffer.from(audio.data, "base64").toString("latin1", 0, 4), "RIFF", "bytes of a sound");
  const [embedded] = await content("test_embedded_resource");
  const resource = {
    uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource content.",
  };
  check.equal(embedded, { type: "resource", resource }, "embedded resource");
  const mixed = await content("test_multiple_content_types");
  check.equal(mixed.map(({ type }) => type), ["text", "image", "resource"], "several kinds of content");
  check.equal(JSON.parse(mixed[2].resource.text), { test: "data", value: 123 }, "the resource among them");
  const sent = { contactMethod: "email", email: "ada@example.org", name: "Ada ☀" };
  const [echo] = await content("json_schema_2020_12_tool", sent);
  check.equal(JSON.parse(echo.text), sent, "arguments as they arrived");
  // In the modern era over HTTP the client repeats the argument as a header; not every text fits into one as it is.
  for (const value of ["plain", "", " padded ", "ünïcode ☀", "=?base64?eA==?="]) {
    const [said] = await content("test_custom_header", { value });
    check.equal(said.text, `The value is ${value}.`, "argument repeated by a header");
  }
}

async function refusals({ client, call, notFound }) {
  const failed = await call({ name: "test_error_handling", arguments: {} });
  check.equal(failed.isError, true, "a tool that fails");
  check.match(failed.content[0].text, /intentionally returns an error/, "what it says");
  const bad = await call({ name: "json_schema_2020_12_tool", arguments: { contactMethod: "pigeon" } });
  check.equal(bad.isError, true, "arguments that do not fit");
  check.match(bad.content[0].text, /pigeon/, "what is said of them");

  const tool = () => call({ name: "no_such_tool", arguments: {} });
  check.match((await check.refused(tool, [INVALID_PARAMS], "unknown tool")).message, /no_such_tool/, "unknown tool");
  const uri = "test://no-such-resource";
  const missing = await check.refused(() => client.readResource({ uri }), [notFound], "unknown resource");
  check.equal(missing.data?.uri, uri, "the URI that is unknown");
  await check.refused(() => client.getPrompt({ name: "no_such_prompt" }), [INVALID_PARAMS], "unknown prompt");
  const half = () => client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "eins" } });
  check.match((await check.refused(half, [INVALID_PARAMS], "missing argument")).message, /arg2/, "missing argument");
}

/** Many calls at once over one connection: each gets its own answer. */
async function crowd(peer) {
  const values = Array.from({ length: 32 }, (_, index) => `call ${index}`);
  const texts = await Promise.all(values.map((value) => peer.text("test_custom_header", { value })));
  check.equal(texts, values.map((value) => `The value is ${value}.`), "answers to calls at once");
}

/** A client that has not seen the list cannot know which arguments a header repeats; it has to recover by itself. */
async function unlisted(open) {
  const peer = await open({ capabilities: {} });
  const value = "ungelesen ☀";
  check.equal(await peer.text("test_custom_header", { value }), `The value is ${value}.`, "a tool called unseen");
  await peer.end();
}

/** The same server for clients of older revisions, as far as this client can be one of them. */
async function revisions(open, { era }) {
  const older = era === "legacy" ? (open.revisions ?? []) : [];
  if (!older.length) check.skip("older revisions", "this client offers only its newest of the era");
  for (const revision of older) {
    const peer = await open({ capabilities: CAPABILITIES, answers: ANSWERS, revision });
    check.equal(peer.version, revision, "negotiated version");
    check.match(await peer.text("test_simple_text"), /^This is/, `text in ${revision}`);
    const { content } = await peer.call({ name: "test_audio_content", arguments: {} });
    check.equal(content[0].type, revision === "2024-11-05" ? "resource" : "audio", `sound in ${revision}`);
    check.equal(await peer.text("test_sampling", { prompt: "?" }), "LLM response: Said: ?", `sampling in ${revision}`);
    const rounds = () => peer.call({ name: "test_input_required_result_multi_round", arguments: {} });
    if (revision >= "2025-06-18") check.equal((await rounds()).content[0].text, "Ada likes green.", `forms in ${revision}`);
    else await check.refused(rounds, [INVALID_PARAMS], `forms, which ${revision} does not have`);
    check.equal(await peer.text("test_reconnection"), "Reconnected.", `an answer fetched later in ${revision}`);
    await peer.end();
  }
}

function checkPicture(data, what) {
  check.equal(Buffer.from(data, "base64").toString("latin1", 1, 4), "PNG", `bytes of the ${what}`);
}
