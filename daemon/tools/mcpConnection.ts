import {
  Client,
  type ClientOptions,
  type JsonSchemaValidator,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import { withTimeLimit } from '../../protocol/base/abort.ts';
import type { ToolPage } from './toolList.ts';

/** A server that has been greeted. */
export interface McpConnection {
  /** It tells when its tools change; the tools of another one may be others each time. */
  readonly tellsChanges: boolean;
  listTools(cursor: string | undefined, signal: AbortSignal): Promise<ToolPage>;
  /** `onProgress` hears that the server is at work; an aborted signal is told to the server. */
  callTool(call: ToolRequest, onProgress: () => void, signal: AbortSignal): Promise<unknown>;
  /** The server no longer knows our session and has run nothing: it must be greeted again. */
  isForgotten(error: unknown): boolean;
  /** A session over HTTP is ended at the server, too. */
  close(): Promise<void>;
}

export interface ToolRequest {
  /** The server's own. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** As the server listed it: it may say that an argument goes into a header too. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface McpConnectionOptions {
  /** A new way to the server: it is asked for a second one where the server wants to be greeted otherwise. */
  readonly openTransport: () => Transport;
  readonly version: string;
  readonly onDidChangeTools: () => void;
  readonly onDidEnd: () => void;
}

/** Our own limits hold; the SDK's would be another set of them. In ms, the most that a timer takes. */
const noTimeout = 2 ** 31 - 1;
/** How long a server has to say that it will tell of changes, in ms. Until then it is asked each time. */
const listenTimeout = 10_000;
/** How long a server has to end our session while the daemon closes, in ms. */
const sessionEndTimeout = 1_000;
const newerRevision = '2026-07-28';

const listResult = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.optional(z.string()) });
const callResult = z.looseObject({});

/**
 * Says hello, as revision 2025-11-25 has it, and where the server refuses that, as 2026-07-28 has it. The SDK itself
 * would ask by the newer one first: some servers that only know the older one end at a request before `initialize`, or
 * say nothing to it, and most servers know the older one. A closed transport ends it.
 * @throws {Error} what the SDK throws, once the transport is closed.
 */
export async function connectMcp(options: McpConnectionOptions): Promise<McpConnection> {
  try {
    return await greet(options, {});
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return greet(options, {
      versionNegotiation: { mode: { pin: newerRevision }, probe: { timeoutMs: noTimeout } },
    }).catch(() => {
      throw error;
    });
  }
}

async function greet(
  { openTransport, version, onDidChangeTools, onDidEnd }: McpConnectionOptions,
  negotiation: Pick<ClientOptions, 'versionNegotiation'>,
): Promise<McpConnection> {
  const transport = openTransport();
  const client = new Client(
    { name: 'runner', version },
    {
      ...negotiation,
      capabilities: {},
      // What tools give back is shown and never checked: the SDK would compile their schemas to code.
      jsonSchemaValidator: { getValidator: acceptAnything },
      // There is nobody to ask while a tool runs.
      inputRequired: { autoFulfill: false },
    },
  );
  client.setNotificationHandler('notifications/tools/list_changed', onDidChangeTools);
  const end: { isThere?: true; isAwaited?: true } = {};
  client.onclose = () => {
    end.isThere = true;
    if (end.isAwaited) onDidEnd();
  };
  try {
    await client.connect(transport, { timeout: noTimeout });
  } catch (error) {
    await transport.close();
    throw error;
  }
  end.isAwaited = true;
  if (end.isThere) onDidEnd();
  return connectionOf(client, transport);
}

function connectionOf(client: Client, transport: Transport): McpConnection {
  const tools = client.getServerCapabilities()?.tools;
  const isNewer = client.getProtocolEra() === 'modern';
  const changes = { isTold: tools?.listChanged === true && !isNewer };
  if (isNewer && tools?.listChanged) void listen(client, changes);
  return {
    get tellsChanges() {
      return changes.isTold;
    },
    async listTools(cursor, signal) {
      if (!tools) return { tools: [] };
      const params = cursor === undefined ? {} : { cursor };
      return client.request({ method: 'tools/list', params }, listResult, { signal, timeout: noTimeout });
    },
    callTool({ name, arguments: given, inputSchema }, onprogress, signal) {
      const params = { name, arguments: given };
      const options = { signal, timeout: noTimeout, onprogress };
      return isNewer
        ? client.callTool(params, {
            ...options,
            toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' } },
          })
        : client.request({ method: 'tools/call', params }, callResult, options);
    },
    isForgotten: (error) => transport.sessionId !== undefined && isSessionUnknown(error),
    async close() {
      await endSession(transport);
      await client.close();
    },
  };
}

/** As MCP has it, by 404; many servers answer 400 instead, and say why. */
function isSessionUnknown(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message));
}

/** A server that does not answer in time, or does not offer this, ends it by itself some day. */
async function endSession(transport: Transport): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
  const reason = new Error('The session was not ended in time.');
  const { signal } = new AbortController();
  await withTimeLimit({ limit: sessionEndTimeout, reason, signal }, () => transport.terminateSession()).catch(
    () => undefined,
  );
}

/** By the newer revision a server tells changes only to those who have asked for that, as long as the stream lasts. */
async function listen(client: Client, changes: { isTold: boolean }): Promise<void> {
  try {
    const { closed } = await client.listen({ toolsListChanged: true }, { timeout: listenTimeout });
    changes.isTold = true;
    await closed;
  } catch {
    // It is asked for its list each time.
  } finally {
    changes.isTold = false;
  }
}

/** The server is there, and does not know the greeting, or not this revision. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ProtocolError) return true;
  if (error instanceof SdkHttpError)
    return error.status >= 400 && error.status < 500 && ![401, 403, 429].includes(error.status);
  return error instanceof Error && error.message.startsWith("Server's protocol version is not supported");
}

function acceptAnything<T>(): JsonSchemaValidator<T> {
  return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
}
