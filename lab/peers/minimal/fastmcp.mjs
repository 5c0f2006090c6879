// The smallest server on fastmcp for TypeScript, after its documentation: over stdio, or over HTTP on a port.
import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const server = new FastMCP({ name: 'fastmcp', version: '1.0.0' });
server.addTool({
  name: 'add',
  description: 'Adds.',
  annotations: { readOnlyHint: true },
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => String(a + b)
});
const port = process.argv[2];
if (port) await server.start({ transportType: 'httpStream', httpStream: { port: Number(port), host: '127.0.0.1' } });
else await server.start({ transportType: 'stdio' });
