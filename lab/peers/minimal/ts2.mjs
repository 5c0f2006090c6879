// The smallest server on the TypeScript SDK 2, after its documentation: over stdio, or over HTTP on a port.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

function minimal() {
  const server = new McpServer({ name: 'ts2', version: '1.0.0' });
  const inputSchema = z.object({ a: z.number(), b: z.number() });
  const about = { description: 'Adds.', inputSchema, annotations: { readOnlyHint: true } };
  server.registerTool('add', about, ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }));
  server.registerResource('one', 'test://one', {}, () => ({ contents: [{ uri: 'test://one', text: '1' }] }));
  return server;
}

const port = process.argv[2];
if (port) createServer(toNodeHandler(createMcpHandler(minimal))).listen(Number(port), '127.0.0.1');
else serveStdio(minimal);
