// A tool server of the SDK that speaks revision 2026-07-28 of MCP and nothing else: over standard input and output, or,
// with the argument "http", at an address that it prints.
const { createServer } = require('node:http');
const { createMcpHandler, inputRequired, Server } = require('@modelcontextprotocol/server');
const { serveStdio } = require('@modelcontextprotocol/server/stdio');

let version = 1;
let headerOfCall = 'none';
let tellChange = (server) => server.sendToolListChanged();

function createToolServer() {
  const server = new Server(
    { name: 'newer', version: '1' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: [
      {
        name: 'echo',
        description: `The tool echo, version ${version}.`,
        inputSchema: {
          type: 'object',
          properties: { word: { type: 'string', 'x-mcp-header': 'Word' } },
          required: ['word'],
        },
      },
      { name: 'ask', description: 'Asks.', inputSchema: { type: 'object' } },
    ],
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (params.name === 'ask') {
      const { inputResponses } = mcpReq;
      if (inputResponses) return { content: [{ type: 'text', text: JSON.stringify(inputResponses) }] };
      const requestedSchema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] };
      return inputRequired({
        inputRequests: { who: inputRequired.elicit({ message: 'How old?', requestedSchema }) },
      });
    }
    version += 1;
    await tellChange(server);
    return {
      content: [{ type: 'text', text: `You said ${params.arguments.word}; header: ${headerOfCall}.` }],
    };
  });
  return server;
}

async function serveHttp() {
  const handler = createMcpHandler(createToolServer, { legacy: 'reject' });
  // Each request has a server of its own, and those who listen are elsewhere.
  tellChange = () => handler.notify.toolsChanged();
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    headerOfCall = request.headers['mcp-param-word'] ?? headerOfCall;
    const {
      status,
      headers,
      body: answer,
    } = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method,
        headers: request.headers,
        ...(body.length > 0 ? { body } : {}),
      }),
    );
    response.writeHead(status, Object.fromEntries(headers));
    for await (const chunk of answer ?? []) response.write(chunk);
    response.end();
  });
  server.listen(0, '127.0.0.1', () =>
    process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`),
  );
}

if (process.argv[2] === 'http') void serveHttp();
else serveStdio(createToolServer, { legacy: 'reject' });
