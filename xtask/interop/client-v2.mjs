// npm @modelcontextprotocol/client, the v2 line: both eras, the legacy one by default.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { parseArguments, report, REVISIONS, run } from "./scenario.mjs";

const options = parseArguments(process.argv.slice(2));
await report("client-v2", options, async () => {
  const transport = options.url
    ? new StreamableHTTPClientTransport(new URL(options.url))
    : new StdioClientTransport({ command: options.command, args: options.args, stderr: "inherit" });
  // A pinned revision has to be offered by server/discover; there is no falling back to a handshake.
  const mode = options.era === "modern" ? { pin: REVISIONS.modern } : "legacy";
  const client = new Client({ name: "interop-client-v2", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  assert.equal(client.getProtocolEra(), options.era);
  return run(
    {
      version: client.getNegotiatedProtocolVersion(),
      listTools: async () => (await client.listTools()).tools,
      callTool: (name, args) => client.callTool({ name, arguments: args }),
      close: async () => {
        if (options.url) {
          assert.equal(Boolean(transport.sessionId), options.era === "legacy", "a session in the legacy era only");
          await transport.terminateSession();
        }
        await client.close();
      },
    },
    options,
  );
});
