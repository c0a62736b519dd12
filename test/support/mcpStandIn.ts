import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What asked for the address `/mcp`, and how. */
export interface McpAsked {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The method of the message, where there is one. */
  readonly message: string | undefined;
}

/** An MCP server with one tool, which takes these tokens, and notes who asked. */
export interface McpStandIn {
  readonly url: string;
  readonly asked: readonly McpAsked[];
  /** What it takes; empty is no token at all. */
  readonly tokens: Set<string>;
  close(): Promise<void>;
}

export async function startMcpStandIn(...accepted: readonly string[]): Promise<McpStandIn> {
  const asked: McpAsked[] = [];
  const tokens = new Set(accepted);
  const server = createServer(async (request, response) => {
    const message = await readMessage(request);
    const { authorization } = request.headers;
    asked.push({
      method: request.method ?? '',
      path: request.url ?? '',
      authorization,
      headers: request.headers,
      message: message?.method,
    });
    const answer = (status: number, body?: unknown, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(body === undefined ? '' : JSON.stringify(body));
    if (request.url !== '/mcp') return answer(404, {});
    const token = authorization?.replace(/^Bearer /, '');
    if (tokens.size > 0 && (token === undefined || !tokens.has(token)))
      return answer(401, {}, { 'www-authenticate': 'Bearer' });
    if (request.method !== 'POST') return answer(405, undefined, { allow: 'POST' });
    if (message?.id === undefined) return answer(202);
    return answer(200, { jsonrpc: '2.0', id: message.id, result: results[message.method ?? ''] ?? {} });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    tokens,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const results: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'stand-in', version: '1.0.0' },
  },
  'tools/list': {
    tools: [
      {
        name: 'search_docs',
        description: 'Searches the documents.',
        inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
        annotations: { readOnlyHint: true },
      },
    ],
  },
  'tools/call': { content: [{ type: 'text', text: 'Nothing was found.' }] },
};

async function readMessage(
  request: IncomingMessage,
): Promise<{ readonly id?: unknown; readonly method?: string } | undefined> {
  const text = (await request.setEncoding('utf8').toArray()).join('');
  return text === '' ? undefined : JSON.parse(text);
}
