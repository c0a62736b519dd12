import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../../protocol/base/json.ts';

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
