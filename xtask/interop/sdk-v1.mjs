// npm @modelcontextprotocol/sdk, the v1 line: the handshake era only.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { chat } from "./chat.mjs";
import { everything } from "./everything.mjs";
import { parseArguments, report } from "./harness.mjs";
import { Peer } from "./peer.mjs";
import { specs } from "./specs.mjs";
import { starmap } from "./starmap.mjs";
import { universe } from "./universe.mjs";

const options = parseArguments(process.argv.slice(2));

/** Opens a client with the given capabilities; what it is asked goes to `answers`. */
async function open({ capabilities, answers, sessionId }) {
  const peer = new Peer(options);
  // The v2 line tells the code of the modern era in both; this one tells what it was sent.
  peer.notFound = -32002;
  const transport = options.url
    ? new StreamableHTTPClientTransport(new URL(options.url), { fetch: peer.fetch, sessionId })
    : new StdioClientTransport({ command: options.command, args: options.args, stderr: "inherit" });
  // The transport is told the negotiated version; only the HTTP one keeps it where a test can read it.
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (agreed) => {
    peer.version = agreed;
    tell?.(agreed);
  };
  const client = new Client({ name: "interop-sdk-v1", version: "1.0.0" }, { capabilities });
  if (capabilities.elicitation) client.setRequestHandler(ElicitRequestSchema, peer.asked("elicit", answers));
  if (capabilities.sampling) client.setRequestHandler(CreateMessageRequestSchema, peer.asked("sample", answers));
  if (capabilities.roots) client.setRequestHandler(ListRootsRequestSchema, peer.asked("roots", answers));
  peer.attach(client, transport, (params, requestOptions) => client.callTool(params, undefined, requestOptions));
  await client.connect(transport);
  return peer;
}

await report("sdk-v1", options, async () => {
  assert.equal(options.era, "legacy", "this client has no modern era");
  return { chat, everything, specs, starmap, universe }[options.scenario](open, options);
});
