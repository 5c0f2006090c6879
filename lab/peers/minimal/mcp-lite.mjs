// The smallest server on mcp-lite, after its documentation: over HTTP on a port.
import { createServer } from 'node:http';
import { McpServer, StreamableHttpTransport } from 'mcp-lite';

const server = new McpServer({ name: 'mcp-lite', version: '1.0.0' });
server.tool('add', {
  description: 'Adds.',
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  handler: ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] })
});
const handle = new StreamableHttpTransport().bind(server);
createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const body = pieces.length ? Buffer.concat(pieces) : undefined;
  const url = `http://${request.headers.host}${request.url}`;
  const answer = await handle(new Request(url, { method: request.method, headers: request.headers, body }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const piece of answer.body ?? []) response.write(piece);
  response.end();
}).listen(Number(process.argv[2]), '127.0.0.1');
