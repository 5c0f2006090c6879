// npm @modelcontextprotocol/client, driven by `cargo xtask outlive`: both eras, the older one by default.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { drive, options } from "./outlive.mjs";

const { era, url, command, args } = options();
const isModern = era === "modern";
const client = new Client(
  { name: "outlive", version: "1.0.0" },
  isModern ? { versionNegotiation: { mode: "auto" } } : undefined,
);
await drive({
  client,
  transport: url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args, stderr: "ignore" }),
  call: (params) => client.callTool(params),
  version: () => client.getNegotiatedProtocolVersion(),
  listen: isModern && ((uri) => client.listen({ resourceSubscriptions: [uri] })),
});
