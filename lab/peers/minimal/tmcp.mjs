// The smallest server on tmcp, after its documentation: over stdio.
import { ValibotJsonSchemaAdapter } from '@tmcp/adapter-valibot';
import { StdioTransport } from '@tmcp/transport-stdio';
import { McpServer } from 'tmcp';
import * as v from 'valibot';

const about = { name: 'tmcp', version: '1.0.0', description: 'Adds.' };
const server = new McpServer(about, { adapter: new ValibotJsonSchemaAdapter(), capabilities: { tools: {} } });
const schema = v.object({ a: v.number(), b: v.number() });
server.tool({ name: 'add', description: 'Adds.', schema, annotations: { readOnlyHint: true } }, ({ a, b }) => ({
  content: [{ type: 'text', text: String(a + b) }]
}));
new StdioTransport(server).listen();
