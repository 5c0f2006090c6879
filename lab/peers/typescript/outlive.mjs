// What the drivers of `cargo xtask outlive` share: each line of JSON on stdin is an order, and one line answers it.
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const UPDATED = "notifications/resources/updated";
/** How long a client waits until it listens again. */
const PAUSE_MS = 200;
/** The most characters of an answer that are passed on; its length is always reported. */
const MAX_TEXT = 4_000_000;

/** Reads `--era legacy|modern` and `--url URL`, or else the command of a server. */
export function options() {
  const { values, positionals } = parseArgs({
    options: { era: { type: "string" }, url: { type: "string" } },
    allowPositionals: true,
  });
  const [command, ...args] = positionals;
  return { ...values, command, args };
}

/** Connects, then carries out orders until stdin ends. `listen(uri)` is how a modern client subscribes. */
export async function drive({ client, transport, call, version, listen }) {
  const seen = { updates: 0, listening: null, trouble: "" };
  client.fallbackNotificationHandler = async ({ method }) => {
    if (method === UPDATED) seen.updates += 1;
  };
  client.onerror = (error) => (seen.trouble = told(error));
  const keepListening = async (uri) => {
    for (;;) {
      try {
        const subscription = await listen(uri);
        seen.listening = true;
        await subscription.closed;
      } catch (error) {
        seen.trouble = told(error);
      }
      seen.listening = false;
      await new Promise((again) => setTimeout(again, PAUSE_MS));
    }
  };
  const orders = {
    call: async ({ name, arguments: args }) => {
      const { content, isError } = await call({ name, arguments: args });
      const [{ text }] = content;
      return { isError: Boolean(isError), length: text.length, text: text.slice(0, MAX_TEXT) };
    },
    subscribe: async ({ uri }) => {
      if (!listen) await client.subscribeResource({ uri });
      else void keepListening(uri);
    },
    look: async () => seen,
  };
  const answer = async (work) => {
    let line;
    try {
      line = { ok: true, ...(await work()) };
    } catch (error) {
      line = { ok: false, error: told(error) };
    }
    console.log(JSON.stringify(line));
  };
  await answer(async () => {
    await client.connect(transport);
    return { version: version() };
  });
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line);
    await answer(() => orders[order.do](order));
  }
  process.exit(0);
}

/** An error with its causes, in one line. */
function told(error) {
  const causes = [];
  for (let cause = error; cause; cause = cause.cause) causes.push(String(cause.message ?? cause));
  return causes.join(": ").split("\n")[0];
}
