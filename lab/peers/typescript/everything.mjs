// `server-everything` over HTTP, on a free port that it says in the words of the small servers.
import { once } from 'node:events';
import { createServer } from 'node:net';

const free = createServer().listen(0, '127.0.0.1');
await once(free, 'listening');
const { port } = free.address();
free.close();
process.env.PORT = String(port);
await import('./node_modules/@modelcontextprotocol/server-everything/dist/transports/streamableHttp.js');
const url = `http://127.0.0.1:${port}/mcp`;
while (!(await fetch(url).catch(() => undefined))) await new Promise((resolve) => setTimeout(resolve, 50));
console.error(`listening on ${url}`);
