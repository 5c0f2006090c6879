// What the fixture tells while a call runs and in between; and that a call ends when its client wants it to.
import { check, within } from "./harness.mjs";

const WATCHED = "test://watched-resource";
const LOGGED = ["Tool execution started", "Tool processing data", "Tool execution completed"];
const UPDATED = "notifications/resources/updated";
const PROMPTS_CHANGED = "notifications/prompts/list_changed";
const MESSAGE = "notifications/message";
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

export async function telling(open, { era }) {
  const peer = await open({ capabilities: {} });
  await progress(peer);
  await (era === "legacy" ? legacyLogging(peer) : modernLogging(peer));
  await cancellation(peer);
  if (peer.http) await leaving(open, peer);
  else check.skip("leaving in the middle of a call", "over stdio the server leaves with its client");
  await reconnection(peer);
  await (era === "legacy" ? legacySubscriptions(peer) : modernSubscriptions(peer));
  if (era === "legacy") check.equal(await peer.client.ping(), {}, "ping");
  else check.skip("ping", "the modern era has none");
  await peer.end();
  if (era === "legacy" && peer.http) await afterwards(open, peer);
  else check.skip("a session after its end", "there is a session in the legacy era over HTTP only");
}

/** The client matches its tokens: a progress with another one would be among its complaints. */
async function progress(peer) {
  const steps = [[0, 100], [50, 100], [100, 100]];
  const follow = async () => {
    const told = [];
    const onprogress = ({ progress, total }) => told.push([progress, total]);
    const text = await peer.text("test_tool_with_progress", {}, { onprogress });
    return [told, text];
  };
  check.equal(await follow(), [steps, "Done."], "progress");
  check.equal(await Promise.all([follow(), follow()]), [[steps, "Done."], [steps, "Done."]], "progress of two calls");
  check.equal(await peer.text("test_tool_with_progress"), "Done.", "nobody asked for progress");
}

/** A client that leaves in the middle of a call: with its session, or with its connections. */
async function leaving(open, peer) {
  const before = await dropped(peer);
  const other = await open({ capabilities: {} });
  await running(other);
  if (other.era === "legacy") await other.transport.terminateSession();
  await other.client.close();
  await drop(peer, before);
}

async function legacyLogging(peer) {
  const log = async () => {
    const before = peer.told.of(MESSAGE).length;
    await peer.text("test_tool_with_logging");
    return peer.told.of(MESSAGE).slice(before);
  };
  await peer.client.setLoggingLevel("info");
  const told = await log();
  check.equal(told.map(({ level, data }) => [level, data]), LOGGED.map((data) => ["info", data]), "log messages");
  await peer.client.setLoggingLevel("error");
  check.equal(await log(), [], "log messages below the level");
}

async function modernLogging(peer) {
  check.skip("logging/setLevel", "the modern era has none; the client sends a level with each call, as _meta");
  const log = async (_meta) => {
    const before = peer.told.of(MESSAGE).length;
    await peer.call({ name: "test_logging_tool", arguments: {}, _meta });
    return peer.told.of(MESSAGE).slice(before);
  };
  const told = await log({ [LOG_LEVEL]: "info" });
  check.equal(told.map(({ level, data }) => [level, data]), LOGGED.map((data) => ["info", data]), "log messages");
  check.equal(await log({ [LOG_LEVEL]: "error" }), [], "log messages below the level");
  check.equal(await log(), [], "log messages that nobody asked for");
}

/** Calls the tool that runs until it is dropped, and comes back once it runs. */
async function running(peer, options = {}) {
  let started;
  const progress = new Promise((resolve) => {
    started = resolve;
  });
  const call = peer.call({ name: "test_cancellation", arguments: {} }, { ...options, onprogress: started });
  call.catch(() => {});
  await within("test_cancellation running", Promise.race([progress, call]));
  return { call };
}

/** A resource counts how often the tool was dropped. */
const dropped = async (peer) => Number(await peer.read("test://cancelled"));

/** Waits until the tool has been dropped once more than `before`. */
const drop = (peer, before) =>
  within("the end of the handler", (async () => {
    while ((await dropped(peer)) === before) await new Promise((again) => setTimeout(again, 20));
    check.equal(await dropped(peer), before + 1, "handlers that were dropped");
  })());

async function cancellation(peer) {
  const before = await dropped(peer);
  const stop = new AbortController();
  const { call } = await running(peer, { signal: stop.signal });
  stop.abort("enough");
  await within("the end of the call", call.then(
    () => check.ok(false, "a cancelled call was answered"),
    (error) => check.match(error, /enough|abort/i, "how the call ended"),
  ));
  await drop(peer, before);
  check.match(await peer.text("test_simple_text"), /^This is/, "the next call");
}

/** In the legacy era over HTTP the server lets go of the connection, and the client comes back for the answer. */
async function reconnection(peer) {
  const streams = () => peer.wire.of("GET").length;
  if (peer.http && peer.era === "legacy") await peer.wire.some("GET");
  const before = streams();
  check.equal(await peer.text("test_reconnection"), "Reconnected.", "an answer that may be fetched later");
  const back = peer.http && peer.era === "legacy" ? 1 : 0;
  check.equal(streams() - before, back, "how often the client came back for it");
}

async function legacySubscriptions(peer) {
  // Over HTTP these notifications have a stream of their own, which the client opens beside its first calls.
  if (peer.http) check.equal((await peer.wire.some("GET"))[0], 200, "the stream for notifications");
  await lists(peer);
  // Changes are told in order: with one that is always told, all before it has been told as well.
  const change = async () => {
    const before = peer.told.of(PROMPTS_CHANGED).length;
    await peer.text("test_trigger_resource_change");
    await peer.text("test_trigger_prompt_change");
    await peer.told.some(PROMPTS_CHANGED, before + 1);
    return peer.told.of(UPDATED);
  };
  check.equal(await change(), [], "updates before subscribing");
  await peer.client.subscribeResource({ uri: WATCHED });
  check.equal(await change(), [{ uri: WATCHED }], "updates while subscribed");
  await peer.client.unsubscribeResource({ uri: WATCHED });
  check.equal(await change(), [{ uri: WATCHED }], "updates after unsubscribing");
}

async function modernSubscriptions(peer) {
  check.skip("resources/subscribe", "the modern era has none; the client listens instead");
  const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  const everything = await peer.client.listen({ ...all, resourceSubscriptions: [WATCHED] });
  check.equal(everything.honoredFilter, { ...all, resourceSubscriptions: [WATCHED] }, "what the server agreed to");
  await lists(peer);
  await peer.text("test_trigger_resource_change");
  const [{ uri }] = await peer.told.some(UPDATED);
  check.equal(uri, WATCHED, "the resource that was updated");
  await everything.close();
  check.equal(await within("the end of the subscription", everything.closed), "local", "who ended the subscription");

  const tools = await peer.client.listen({ toolsListChanged: true });
  await peer.text("test_trigger_resource_change");
  await peer.text("test_trigger_prompt_change");
  await peer.text("test_trigger_tool_change");
  await peer.told.some("notifications/tools/list_changed", 2);
  check.equal(peer.told.of(UPDATED).length, 1, "updates that were not asked for");
  check.equal(peer.told.of(PROMPTS_CHANGED).length, 1, "list changes that were not asked for");
  await tools.close();
}

async function lists(peer) {
  for (const kind of ["tool", "prompt"]) {
    const method = `notifications/${kind}s/list_changed`;
    await peer.text(`test_trigger_${kind}_change`);
    check.equal((await peer.told.some(method)).length, 1, method);
  }
}

/** Whoever comes back with the session is told that it is over. */
async function afterwards(open, { transport, ended }) {
  check.equal(transport.sessionId, undefined, "the session the client keeps");
  const late = await open({ capabilities: {}, sessionId: ended });
  const refused = await late.client.ping().then(() => "an answer", String);
  check.match(refused, /404|session/i, "a call in a session that has ended");
  await late.client.close();
}
