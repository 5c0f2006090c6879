// A small server on the official TypeScript SDK, to be called by `mcp-client/examples/peers.rs`: over stdio, or over HTTP
// with `--http`, where sessions of the older revisions are kept beside the stateless revision.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler, inputRequired, isLegacyRequest } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const COUNTER = 'peer://counter';
let counter = 0;
let cancelled = 0;
let extra = 0;
/** The servers of a connection or a session, which tell it by themselves. */
const lasting = new Set();
/** Tells the listeners of the stateless revision over HTTP. */
let notify;

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const wait = (milliseconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve(true)));
  });

const addExtra = (server, number) => server.registerTool(`extra_${number}`, { description: 'One more.' }, () => text(number));

function small(isLasting) {
  const server = new McpServer(
    { name: 'typescript-peer', version: '2.4.0' },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true }, tools: { listChanged: true } } }
  );
  if (isLasting) {
    lasting.add(server);
    server.server.onclose = () => lasting.delete(server);
  }
  server.server.setRequestHandler('resources/subscribe', async () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', async () => ({}));
  server.registerResource('counter', COUNTER, {}, () => ({ contents: [{ uri: COUNTER, text: String(counter) }] }));
  const tool = (name, run, inputSchema) => server.registerTool(name, { description: 'Of the small server.', inputSchema }, run);
  const progress = async (context, step) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    if (progressToken === undefined) return;
    await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: step, total: 3 } });
  };

  tool('echo', async ({ message }) => text(message), z.object({ message: z.string() }));
  tool('count', async (_, context) => {
    for (let step = 1; step <= 3; step++) await progress(context, step);
    return text('counted to 3');
  }, z.object({}));
  tool('log', async (_, context) => {
    await context.mcpReq.log('warning', 'logged by the small server');
    return text('logged');
  }, z.object({}));
  tool('touch', async () => {
    for (let times = 0; times < 5; times++) {
      counter += 1;
      notify?.resourceUpdated(COUNTER);
      for (const each of lasting) await each.server.sendResourceUpdated({ uri: COUNTER });
    }
    return text(counter);
  }, z.object({}));
  tool('grow', async () => {
    extra += 1;
    notify?.toolsChanged();
    for (const each of lasting) addExtra(each, extra);
    return text('grown');
  }, z.object({}));
  tool('slow', async (_, context) => {
    await progress(context, 1);
    if (await wait(60_000, context.mcpReq.signal)) cancelled += 1;
    return text('done');
  }, z.object({}));
  tool('cancelled', async () => text(cancelled), z.object({}));
  tool('ask', async (_, context) => {
    const answer = context.mcpReq.inputResponses?.answer;
    if (answer) return text(`Hello, ${answer.content?.name}!`);
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    return inputRequired({ inputRequests: { answer: inputRequired.elicit({ message: 'What is your name?', requestedSchema }) } });
  }, z.object({}));
  tool('sample', async (_, context) => {
    const answer = context.mcpReq.inputResponses?.answer;
    if (answer) return text(`The model said: ${answer.content?.text}`);
    const messages = [{ role: 'user', content: { type: 'text', text: 'Say something.' } }];
    return inputRequired({ inputRequests: { answer: inputRequired.createMessage({ messages, maxTokens: 100 }) } });
  }, z.object({}));
  for (let number = 1; number <= extra; number++) addExtra(server, number);
  return server;
}

if (process.argv[2] !== '--http') {
  serveStdio(() => small(true));
} else {
  const handler = createMcpHandler(() => small(false), { legacy: 'reject' });
  notify = handler.notify;
  const modern = toNodeHandler(handler);
  const sessions = new Map();
  const legacy = async (request, response, body) => {
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport) {
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
        onsessionclosed: (id) => void sessions.delete(id)
      });
      await small(true).connect(transport);
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
    const isLegacy = request.method !== 'POST' || (await isLegacyRequest(await toWebRequest(request, body), body));
    await (isLegacy ? legacy : modern)(request, response, body);
  });
  listener.listen(0, '127.0.0.1', () => console.error(`listening on http://127.0.0.1:${listener.address().port}/mcp`));
}
