// npm @modelcontextprotocol/sdk, the v1 line: the handshake era only.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { parseArguments, report, run } from "./scenario.mjs";

const options = parseArguments(process.argv.slice(2));
await report("sdk-v1", options, async () => {
  assert.equal(options.era, "legacy", "this client has no modern era");
  const transport = options.url
    ? new StreamableHTTPClientTransport(new URL(options.url))
    : new StdioClientTransport({ command: options.command, args: options.args, stderr: "inherit" });
  // The transport is told the negotiated version; only the HTTP one keeps it where a test can read it.
  let version;
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (agreed) => {
    version = agreed;
    tell?.(agreed);
  };
  const client = new Client({ name: "interop-sdk-v1", version: "1.0.0" });
  await client.connect(transport);
  return run(
    {
      version,
      listTools: async () => (await client.listTools()).tools,
      callTool: (name, args) => client.callTool({ name, arguments: args }),
      close: async () => {
        if (options.url) {
          assert.ok(transport.sessionId, "the server opened a session");
          await transport.terminateSession();
        }
        await client.close();
      },
    },
    options,
  );
});
