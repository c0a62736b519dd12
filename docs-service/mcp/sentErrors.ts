import type { JSONRPCErrorResponse, JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import { tryParameterSentence } from './parameterSentence.ts';

/** MCP up to 2025-11-25; since 2026-07-28 it is a wrong parameter. */
const resourceNotFound = -32_002;
/** JSON-RPC 2.0, section 5.1. */
const invalidParameters = -32_602;

/**
 * Corrects the errors that the SDK sends. It treats parameters of a wrong type as an internal error, with the whole
 * output of its validator. It also sends the newer revision's code to every client, but older clients have another code
 * for an unknown resource.
 */
export function mendSentErrors(server: Server, era: 'legacy' | 'modern'): void {
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(mended(message, era), options);
    await connect(transport);
  };
}

function mended(message: JSONRPCMessage, era: 'legacy' | 'modern'): JSONRPCMessage {
  if (!('error' in message)) return message;
  const { error } = message;
  const sentence = tryParameterSentence(error.message);
  if (sentence !== undefined)
    return { ...message, error: { ...error, code: invalidParameters, message: sentence } };
  if (era === 'legacy' && namesResource(error))
    return { ...message, error: { ...error, code: resourceNotFound } };
  return message;
}

/** No other error of this server contains an address. */
function namesResource({ data }: JSONRPCErrorResponse['error']): boolean {
  return typeof data === 'object' && data !== null && 'uri' in data;
}
