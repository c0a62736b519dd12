import type { AddressInfo } from 'node:net';
import {
  Client as NewerClient,
  StreamableHTTPClientTransport as NewerTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FastifyInstance } from 'fastify';

interface Teardown {
  teardown(work: () => unknown): void;
}

/** Listens on a port of its own; returns the address of MCP. */
export async function listenForMcp(app: FastifyInstance): Promise<URL> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return new URL(`http://127.0.0.1:${port}/mcp`);
}

/** A client of the SDK that most agents have, which speaks 2025-11-25. */
export async function connectClient(t: Teardown, url: URL, token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: bearer(token) }));
  t.teardown(() => client.close());
  return client;
}

/** A client that speaks 2026-07-28 and nothing else. */
export async function connectNewerClient(t: Teardown, url: URL, token: string): Promise<NewerClient> {
  const client = new NewerClient(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new NewerTransport(url, { requestInit: bearer(token) }));
  t.teardown(() => client.close());
  return client;
}

function bearer(token: string): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}

/** The one text of a result, and whether it is an error. */
export function textOf(result: unknown): { readonly text: string; readonly isError: boolean } {
  const { content, isError } = result as { content: readonly { text: string }[]; isError?: boolean };
  return { text: content.map(({ text }) => text).join('\n'), isError: isError ?? false };
}
