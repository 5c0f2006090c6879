// The server on the official TypeScript SDK that `cargo xtask bench` compares: three tools, over stdio with `--stdio`, or
// at the address in the first argument, where sessions of the older revisions are kept beside the stateless revision.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const LINE = 'A line of prose that says "yes" once, and then goes on to its end.\n';
const lasting = new Set();

const text = (value) => ({ content: [{ type: 'text', text: value }] });

function bench(isLasting) {
  const server = new McpServer({ name: 'bench', version: '0.1.0' }, { capabilities: { tools: { listChanged: true } } });
  if (isLasting) {
    lasting.add(server);
    server.server.onclose = () => lasting.delete(server);
  }
  const tool = (name, run, inputSchema) => server.registerTool(name, { description: 'Of the comparison.', inputSchema }, run);
  tool('echo', async (said) => text(said.text), z.object({ text: z.string() }));
  tool('large', async () => text(LINE.repeat(1500)), z.object({}));
  tool('touch', async () => {
    for (const each of lasting) await each.server.sendToolListChanged();
    return text('touched');
  }, z.object({}));
  return server;
}

const address = process.argv[2];
if (address === '--stdio') {
  serveStdio(() => bench(true));
} else {
  const modern = toNodeHandler(createMcpHandler(() => bench(false), { legacy: 'reject' }));
  const sessions = new Map();
  const legacy = async (request, response, body) => {
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport) {
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
        onsessionclosed: (id) => void sessions.delete(id)
      });
      await bench(true).connect(transport);
    }
    await transport.handleRequest(request, response, body);
  };
  const listener = createServer(async (request, response) => {
    let body;
    if (request.method === 'POST') {
      let received = '';
      for await (const piece of request) received += piece;
      body = JSON.parse(received);
    }
    // A request of a session is one of the older revisions: asking costs as much as answering.
    const isLegacy = request.headers['mcp-session-id'] || request.method !== 'POST'
      || (await isLegacyRequest(await toWebRequest(request, body), body));
    await (isLegacy ? legacy : modern)(request, response, body);
  });
  const [host, port] = address.split(':');
  listener.listen(Number(port), host, () => console.error(`listening on http://${host}:${listener.address().port}/mcp`));
}
