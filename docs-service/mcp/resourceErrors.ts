import type { JSONRPCMessage, Server } from '@modelcontextprotocol/server';

/** MCP up to 2025-11-25; from 2026-07-28 on it is a wrong parameter. */
const resourceNotFound = -32_002;

/**
 * The SDK sends the code of the newer revision to every client. Clients of the older one know an unknown resource by
 * its own code; no other error of this server has an address.
 */
export function sendOlderResourceErrors(server: Server): void {
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(withOlderCode(message), options);
    await connect(transport);
  };
}

function withOlderCode(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message;
  const { data } = message.error;
  const isUnknown = typeof data === 'object' && data !== null && 'uri' in data;
  return isUnknown ? { ...message, error: { ...message.error, code: resourceNotFound } } : message;
}
