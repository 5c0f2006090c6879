// npm @modelcontextprotocol/client, the v2 line: both eras, the legacy one by default.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { chat } from "./chat.mjs";
import { everything } from "./everything.mjs";
import { check, parseArguments, report, REVISIONS } from "./harness.mjs";
import { Peer } from "./peer.mjs";
import { specs } from "./specs.mjs";
import { starmap } from "./starmap.mjs";
import { universe } from "./universe.mjs";

const options = parseArguments(process.argv.slice(2));

/** Opens a client with the given capabilities; what it is asked goes to `answers`. */
async function open({ capabilities, answers, sessionId, revision }) {
  const peer = new Peer(options);
  const transport = options.url
    ? new StreamableHTTPClientTransport(new URL(options.url), { fetch: peer.fetch, sessionId })
    : new StdioClientTransport({ command: options.command, args: options.args, stderr: "inherit" });
  // A pinned revision has to be offered by server/discover; there is no falling back to a handshake.
  const mode = options.era === "modern" ? { pin: REVISIONS.modern } : "legacy";
  const client = new Client(
    { name: "interop-client-v2", version: "1.0.0" },
    { capabilities, versionNegotiation: { mode }, ...(revision && { supportedProtocolVersions: [revision] }) },
  );
  // In the modern era the client itself turns what a result asks for into calls of these handlers.
  if (capabilities.elicitation) client.setRequestHandler("elicitation/create", peer.asked("elicit", answers));
  if (capabilities.sampling) client.setRequestHandler("sampling/createMessage", peer.asked("sample", answers));
  if (capabilities.roots) client.setRequestHandler("roots/list", peer.asked("roots", answers));
  peer.attach(client, transport, (params, requestOptions) => client.callTool(params, requestOptions));
  await client.connect(transport);
  peer.version = client.getNegotiatedProtocolVersion();
  if (!sessionId) check.equal(client.getProtocolEra(), options.era, "era of the connection");
  return peer;
}

open.revisions = ["2025-06-18", "2025-03-26", "2024-11-05"];

await report("client-v2", options, () => ({ chat, everything, specs, starmap, universe })[options.scenario](open, options));
