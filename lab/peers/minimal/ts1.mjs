// The smallest server on the TypeScript SDK 1, after its documentation: over stdio, or over HTTP with sessions on a port.
import { randomUUID } from 'node:crypto';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

function minimal() {
  const server = new McpServer({ name: 'ts1', version: '1.0.0' });
  const about = { description: 'Adds.', inputSchema: { a: z.number(), b: z.number() }, annotations: { readOnlyHint: true } };
  server.registerTool('add', about, ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }));
  server.registerResource('one', 'test://one', {}, () => ({ contents: [{ uri: 'test://one', text: '1' }] }));
  return server;
}

const port = process.argv[2];
if (!port) {
  await minimal().connect(new StdioServerTransport());
} else {
  const sessions = new Map();
  const app = createMcpExpressApp();
  app.all('/mcp', async (request, response) => {
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport && !request.headers['mcp-session-id'] && isInitializeRequest(request.body)) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
        onsessionclosed: (id) => void sessions.delete(id)
      });
      await minimal().connect(transport);
    }
    if (transport) return transport.handleRequest(request, response, request.body);
    response.status(request.headers['mcp-session-id'] ? 404 : 400).json({ jsonrpc: '2.0', error: { code: -32000, message: 'No session' }, id: null });
  });
  app.listen(Number(port), '127.0.0.1');
}
