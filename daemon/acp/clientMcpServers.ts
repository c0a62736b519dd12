import type { McpServer } from '@agentclientprotocol/sdk';
import { builtinServer, type ToolServers } from '../../protocol/messages/tools.ts';
import { InvalidParamsError } from '../base/errors.ts';

/** No editor has more. */
const maxServers = 64;

/**
 * The MCP servers that a client passes with a session, as entries by name. Characters that the name of an entry cannot
 * have are replaced, and a name that is taken gets a number.
 * @throws {InvalidParamsError} if a server has a transport that is not supported.
 */
export function readClientMcpServers(servers: readonly McpServer[]): ToolServers {
  if (servers.length > maxServers)
    throw new InvalidParamsError('mcpServers', `a session takes at most ${maxServers} tool servers`);
  const names = new Set<string>([builtinServer]);
  return Object.fromEntries(
    servers.map((server, index) => [freeName(server.name, names), toEntry(server, index)]),
  );
}

function toEntry(server: McpServer, index: number): ToolServers[string] {
  if (!('type' in server)) return { command: server.command, args: server.args, env: toRecord(server.env) };
  if (server.type === 'http') return { type: 'http', url: server.url, headers: toRecord(server.headers) };
  throw new InvalidParamsError(
    `mcpServers[${index}].type`,
    `a tool server is reached over its standard input and output or over HTTP; "${server.type}" is not supported`,
  );
}

function toRecord(pairs: readonly { readonly name: string; readonly value: string }[]) {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

function freeName(name: string, taken: Set<string>): string {
  const plain = name.replace(/[^\w.-]/g, '_').slice(0, 60) || 'server';
  let free = plain;
  for (let number = 2; taken.has(free); number += 1) free = `${plain}_${number}`;
  taken.add(free);
  return free;
}
