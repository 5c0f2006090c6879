// npm @modelcontextprotocol/sdk, driven by `cargo xtask outlive`: the older era only.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { drive, options } from "./outlive.mjs";

const { url, command, args } = options();
const client = new Client({ name: "outlive", version: "1.0.0" });
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url))
  : new StdioClientTransport({ command, args, stderr: "ignore" });
// The transport learns the negotiated version; only that of HTTP keeps it.
let version;
const keep = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (agreed) => {
  version = agreed;
  keep?.(agreed);
};
await drive({ client, transport, call: (params) => client.callTool(params), version: () => version });
