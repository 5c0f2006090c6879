// The chat server on the exports services/chat-server/tests/fixtures: its tools, resources, prompts, subscriptions.
import { appendFile } from "node:fs/promises";
import { check, REVISIONS } from "./harness.mjs";
import { read } from "./universe.mjs";

const TOOLS = [
  "get_message_context", "get_messages", "get_statistics", "list_chats", "list_people", "list_sources", "search_messages",
  "wait_for_message",
];

/** Puts one client through it. `open` is what a client script offers; see `everything.mjs`. */
export async function chat(open, { era }) {
  const peer = await open({ capabilities: {} });
  const { client } = peer;
  check.equal(peer.version, REVISIONS[era], "negotiated version");
  check.equal(client.getServerVersion().name, "chat-server", "name of the server");
  const capabilities = client.getServerCapabilities();
  check.ok(capabilities.tools && capabilities.resources && capabilities.prompts, "capabilities");
  const { tools } = await client.listTools();
  check.equal(tools.map((tool) => tool.name).sort(), TOOLS, "tools");
  for (const tool of tools) {
    check.equal(tool.annotations.readOnlyHint, true, `${tool.name} only reads`);
  }
  const call = async (name, args = {}) => read(await peer.call({ name, arguments: args }));
  const refused = async (code, message, name, args) => {
    const result = await peer.call({ name, arguments: args });
    check.equal(result.isError, true, `${name} ${JSON.stringify(args)} is a tool error`);
    const { error } = JSON.parse(result.content[0].text);
    check.equal(error.code, code, `code of ${name} ${JSON.stringify(args)}`);
    check.match(error.message, message, `message of ${name} ${JSON.stringify(args)}`);
  };
  await asking(call);
  await refused("SOURCE_NOT_FOUND", /^Source 'icq' not found$/, "list_chats", { source: "icq" });
  await refused("SOURCE_NOT_CONNECTED", /signal-cli daemon/, "list_chats", { source: "signal" });
  await refused("CHAT_NOT_FOUND", /^Chat 'Invalid' not found in source 'telegram'$/, "get_messages",
    { source: "telegram", chat: "Invalid" });
  await refused("INVALID_PARAMETER", /RFC 3339/, "get_messages", { since: "invalid-date" });
  await besides(client);
  await live(peer, call, era);
  await peer.end();
  return { version: peer.version, tools: tools.length };
}

async function asking(call) {
  const { sources } = await call("list_sources");
  check.equal(sources.map(({ id, is_connected }) => [id, is_connected]),
    [["live", true], ["signal", false], ["telegram", true], ["whatsapp", true]], "sources");
  const { chats } = await call("list_chats", { source: "telegram", filter: { chat_type: "group", name_pattern: "Fam" } });
  check.equal(chats.map(({ id, name, type }) => [id, name, type]), [["-102", "Family", "group"]], "chats");

  const antti = { source: "telegram", chat: "Antti" };
  const page = await call("get_messages", { ...antti, limit: 10 });
  check.equal(page.messages.map(({ id }) => id), Array.from({ length: 10 }, (_, n) => String(1000 - n)), "newest first");
  const next = await call("get_messages", { ...antti, limit: 1, cursor: page.next_cursor });
  check.equal(next.messages[0].id, "990", "behind the cursor");
  const since = await call("get_messages", { ...antti, since: "2025-01-13T00:00:00Z", limit: 1000 });
  check.equal(since.messages.length, 425, "since");
  const alice = await call("get_messages", { ...antti, sender: "Alice", search: "meeting" });
  check.ok(alice.messages.length > 10, "by sender and text");
  for (const { sender, content } of alice.messages) {
    check.ok(sender === "Alice" && content.includes("meeting"), `${sender}: ${content}`);
  }
  const everywhere = await call("get_messages", { source: "telegram", search: "project is late" });
  check.equal(everywhere.messages.length, 1, "search over all chats");
  check.equal(everywhere.chats.map(({ name }) => name), ["Work"], "the chat of what was found");
  const { hits } = await call("search_messages", { query: '"bridge is open"' });
  check.match(hits[0].snippet, /\*\*bridge\*\*/, "what was found is marked");
  const around = await call("get_message_context", { source: "telegram", chat: "Family", message_id: "2" });
  check.equal([around.before.length, around.after.length], [1, 2], "context");
}

async function besides(client) {
  const { resources } = await client.listResources();
  check.ok(resources.some(({ uri }) => uri === "messages://telegram/101"), "a chat among the resources");
  const { resourceTemplates } = await client.listResourceTemplates();
  const messages = resourceTemplates.find((template) => template.uriTemplate.startsWith("messages://{source}/{chat}"));
  check.ok(messages, "template of messages");
  const { contents } = await client.readResource({ uri: "messages://telegram/Time%20capsule?since=7d&limit=100" });
  check.equal(contents[0].text, "[2100-01-01T02:00:00+02:00] Antti: Opened in a hundred years.", "messages as text");
  const image = await client.readResource({ uri: "attachment://telegram/-102/3/0" });
  check.match(image.contents[0].blob, /^\/9j\//, "bytes of an attachment");
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "analyze_conversation" },
    argument: { name: "chat", value: "fam" },
  });
  check.equal(completion.values, ["Family"], "completed chat");
  const prompt = await client.getPrompt({ name: "analyze_conversation", arguments: { source: "telegram", chat: "Antti" } });
  check.match(prompt.messages[0].content.text, /the last 100 of 1000/, "what the prompt says of the chat");
  check.match(prompt.messages[1].content.text, / Alice: 1000: [^\n]*$/, "messages of the prompt");
}

/** Messages that come in: by a call that waits, and by a subscription. */
async function live(peer, call, era) {
  const word = `bell${process.pid}`;
  let count = 0;
  // What a client waits for begins when the server hears of it: it writes until the message was told.
  const writing = async (told) => {
    const pen = setInterval(() => appendFile(process.env.INTEROP_LIVE, `13/01/2025, 09:30 - Nell: ${word} ${(count += 1)}\n`), 200);
    return told.finally(() => clearInterval(pen));
  };
  const waited = await writing(call("wait_for_message", { source: "live", search: word, seconds: 30 }));
  check.match(waited.messages[0].content, new RegExp(`^${word} [0-9]+$`), "the message that was waited for");
  const nothing = await call("wait_for_message", { source: "telegram", seconds: 1 });
  check.equal(nothing.messages, [], "nothing has come in");
  check.match(nothing.note, /call again/, "what to do then");

  const uri = "messages://live/*?sender=Nell";
  const listening = era === "legacy" ? undefined : await peer.client.listen({ resourceSubscriptions: [uri] });
  if (!listening) await peer.client.subscribeResource({ uri });
  const updated = await writing(peer.told.some("notifications/resources/updated"));
  check.equal(updated[0].uri, uri, "the subscription that was told");
  check.match(updated[0]._meta["chat-server/message"].content, /^bell/, "the message in the notification");
  check.ok(updated[0]._meta["chat-server/cursor"], "where to read on");
  if (listening) await listening.close();
  else await peer.client.unsubscribeResource({ uri });
}
