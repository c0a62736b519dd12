import {
  Client,
  type ClientOptions,
  type JSONRPCMessage,
  ProtocolError,
  parseJSONRPCMessage,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { withTimeLimit } from '../../protocol/base/abort.ts';
import { isRecord } from '../../protocol/base/json.ts';
import type { ElicitResult } from '../../protocol/messages/elicit.ts';
import type { ElicitMode } from '../chat/daemonTools.ts';
import { DefaultJsonSchemaValidator } from './clientShims.ts';

/** The SDK's client once the server has answered its greeting, and the transport that it uses. */
export interface McpClient {
  readonly client: Client;
  readonly transport: Transport;
}

interface McpClientOptions {
  /** Opens a transport. It is called a second time if the server needs another greeting. */
  readonly openTransport: () => Transport;
  readonly version: string;
  readonly onDidChangeTools: () => void;
  /** How the user can be asked; empty if nobody can. */
  readonly elicitModes: readonly ElicitMode[];
  /** Asks the user during a call. */
  readonly elicit: (params: unknown, signal: AbortSignal) => Promise<ElicitResult>;
}

/** The SDK's own time limits are switched off, because ours hold. In ms, the most that a timer takes. */
export const noTimeout = 2 ** 31 - 1;
/** The largest message of a server, in bytes: a result is cut far below, and a page of tools may have some MB. */
export const maxMessage = 16 * 1024 * 1024;
/** How long a server has to end our session while the daemon closes, in ms. */
const sessionEndTimeout = 1_000;
/** How often a server may ask the user during one call. */
export const maxQuestions = 10;
const newerRevision = '2026-07-28';

/**
 * Greets a server as revision 2025-11-25 specifies and, if the server refuses that, as 2026-07-28 does. The SDK by
 * itself would try the newer one first, but most servers know the older one, and some of them end at a request before
 * `initialize`, or never answer it. Closing the transport ends the greeting.
 * @throws {Error} what the SDK throws, once the transport is closed.
 */
export async function connectClient(options: McpClientOptions): Promise<McpClient> {
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
  { openTransport, version, onDidChangeTools, elicitModes, elicit }: McpClientOptions,
  negotiation: Pick<ClientOptions, 'versionNegotiation'>,
): Promise<McpClient> {
  const transport = openTransport();
  const canElicit = elicitModes.length > 0;
  const client = new Client(
    { name: 'runner', version },
    {
      ...negotiation,
      capabilities: canElicit
        ? { elicitation: Object.fromEntries(elicitModes.map((mode) => [mode, {}])) }
        : {},
      jsonSchemaValidator: new DefaultJsonSchemaValidator(),
      // By the newer revision, a question is an answer of the server, after which the call is sent again.
      inputRequired: { autoFulfill: canElicit, maxRounds: maxQuestions },
    },
  );
  if (canElicit)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      const { action, content } = await elicit(params, mcpReq.signal);
      return content === undefined ? { action } : { action, content: mutable(content) };
    });
  client.setNotificationHandler('notifications/tools/list_changed', onDidChangeTools);
  try {
    await client.connect(transport, { timeout: noTimeout });
  } catch (error) {
    await transport.close();
    throw error;
  }
  return { client, transport };
}

function mutable(content: NonNullable<ElicitResult['content']>) {
  return Object.fromEntries(
    Object.entries(content).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  );
}

/** The server answers, but does not know the greeting or this revision. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ProtocolError) return true;
  if (error instanceof SdkHttpError)
    return error.status >= 400 && error.status < 500 && ![401, 403, 429].includes(error.status);
  return error instanceof Error && error.message.startsWith("Server's protocol version is not supported");
}

/** MCP prescribes 404 for an unknown session. Many servers answer 400 instead, and mention the session. */
export function isSessionUnknown(error: unknown, transport: Transport): boolean {
  if (transport.sessionId === undefined || !(error instanceof SdkHttpError)) return false;
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message));
}

/** Also ends a session over HTTP at the server. One that does not answer in time will end it by itself. */
export async function closeClient({ client, transport }: McpClient): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    const reason = new Error('The session was not ended in time.');
    const { signal } = new AbortController();
    await withTimeLimit({ limit: sessionEndTimeout, reason, signal }, () =>
      transport.terminateSession(),
    ).catch(() => undefined);
  }
  await client.close();
}

/** The message of the error that stands for an answer that does not follow MCP. */
export const unfitAnswer = 'sent an answer that does not follow MCP';

/**
 * A message as servers mean it: many write null where MCP lets a field be absent. An answer that does not follow MCP
 * becomes an error, because its request would wait for it until its time is over. Undefined if it is no message.
 */
export function tryServerMessage(value: unknown): JSONRPCMessage | undefined {
  dropNulls(value);
  try {
    return parseJSONRPCMessage(value);
  } catch {
    if (!isRecord(value) || value['jsonrpc'] !== '2.0' || 'method' in value) return undefined;
    const { id } = value;
    if (typeof id !== 'number' && typeof id !== 'string') return undefined;
    return { jsonrpc: '2.0', id, error: { code: -32_603, message: unfitAnswer } };
  }
}

/** Below these keys, null is a value. */
const free: ReadonlySet<string> = new Set([
  '_meta',
  'data',
  'inputSchema',
  'outputSchema',
  'requestedSchema',
  'structuredContent',
]);

/** MCP nests its own fields less deeply. */
const maxDepth = 8;

function dropNulls(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return;
  for (const [key, inner] of Object.entries(value))
    if (inner === null && !Array.isArray(value)) Reflect.deleteProperty(value, key);
    else if (!free.has(key)) dropNulls(inner, depth + 1);
}
