import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, McpError, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaValidatorResult } from '@modelcontextprotocol/sdk/validation/types.js';
import * as z from 'zod/mini';
import type { ToolPage } from './toolList.ts';

/** A server that has been greeted. */
export interface McpConnection {
  /** It tells when its tools change; the tools of another one may be others each time. */
  readonly tellsChanges: boolean;
  listTools(cursor: string | undefined, signal: AbortSignal): Promise<ToolPage>;
  /** `onProgress` hears that the server is at work; an aborted signal is told to the server. */
  callTool(call: ToolRequest, onProgress: () => void, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

export interface ToolRequest {
  /** The server's own. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface McpConnectionOptions {
  readonly transport: Transport;
  readonly version: string;
  readonly onDidChangeTools: () => void;
  readonly onDidEnd: () => void;
}

/** Our own limits hold; the SDK's would be another set of them. In ms, the most that a timer takes. */
const noTimeout = 2 ** 31 - 1;

const listResult = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.optional(z.string()) });
const callResult = z.looseObject({});

/** Says hello. A closed transport ends it. @throws {Error} what the SDK throws, once the transport is closed. */
export async function connectMcp(options: McpConnectionOptions): Promise<McpConnection> {
  const { transport, version, onDidChangeTools, onDidEnd } = options;
  const client = new Client(
    { name: 'runner', version },
    // What tools give back is shown and never checked: the SDK would compile their schemas to code.
    { capabilities: {}, jsonSchemaValidator: { getValidator: () => acceptAnything } },
  );
  client.setNotificationHandler(ToolListChangedNotificationSchema, onDidChangeTools);
  client.onclose = onDidEnd;
  try {
    await client.connect(transport, { timeout: noTimeout });
  } catch (error) {
    await transport.close();
    throw error;
  }
  const capabilities = client.getServerCapabilities();
  return {
    tellsChanges: capabilities?.tools?.listChanged === true,
    async listTools(cursor, signal) {
      if (!capabilities?.tools) return { tools: [] };
      const params = cursor === undefined ? {} : { cursor };
      return client.request({ method: 'tools/list', params }, listResult, { signal, timeout: noTimeout });
    },
    callTool: ({ name, arguments: given }, onProgress, signal) =>
      client.request({ method: 'tools/call', params: { name, arguments: given } }, callResult, {
        signal,
        timeout: noTimeout,
        onprogress: onProgress,
      }),
    close: () => transport.close(),
  };
}

function acceptAnything<T>(input: unknown): JsonSchemaValidatorResult<T> {
  return { valid: true, data: input as T, errorMessage: undefined };
}

/** Why a server could not do something, as a clause. */
export function reasonOf(error: unknown): string {
  if (error instanceof StreamableHTTPError) return httpReason(error);
  if (error instanceof McpError)
    return error.code === ErrorCode.ConnectionClosed && error.message.endsWith(': Connection closed')
      ? 'is gone'
      : `answered with an error: ${error.message.replace(/^MCP error -?\d+: /, '')}`;
  if (error instanceof TypeError && error.message === 'fetch failed')
    return `cannot be reached (${codeOf(error.cause)})`;
  return `failed: ${error instanceof Error ? error.message : String(error)}`;
}

function httpReason({ code, message }: StreamableHTTPError): string {
  if (code === 401 || code === 403)
    return `wants a token (${code}). Enter one for its address under "auth" in ~/.config/runner/config.json`;
  const said = message.replace(/^Streamable HTTP error: (Error POSTing to endpoint: )?/, '');
  return code === undefined || code < 0 ? `failed: ${said}` : `answered with status ${code}: ${said}`;
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'no connection';
}
