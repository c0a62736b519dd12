import type { JSONRPCErrorResponse, JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import { tryParameterSentence } from './parameterSentence.ts';

/** MCP up to 2025-11-25; from 2026-07-28 on it is a wrong parameter. */
const resourceNotFound = -32_002;
/** JSON-RPC 2.0, section 5.1. */
const invalidParameters = -32_602;

/**
 * Mends what the SDK sends of errors. Parameters of a wrong type are an internal error to it, with all that its
 * validator has to say. It also sends the code of the newer revision to every client, where clients of the older one
 * know an unknown resource by a code of its own.
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

/** No other error of this server has an address. */
function namesResource({ data }: JSONRPCErrorResponse['error']): boolean {
  return typeof data === 'object' && data !== null && 'uri' in data;
}
