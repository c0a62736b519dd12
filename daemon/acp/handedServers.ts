import type { McpServer } from '@agentclientprotocol/sdk';
import type { ToolServers } from '../../protocol/messages/tools.ts';
import { InvalidParamsError } from '../base/errors.ts';

/** No editor has more. */
const maxServers = 64;

/**
 * The tool servers that an editor hands over with a session, as entries by name. Names are the editor's own, with what
 * an entry's name may not have in other characters, and a number where two are the same.
 * @throws {InvalidParamsError} where there is one that cannot be spoken to.
 */
export function readHandedServers(servers: readonly McpServer[]): ToolServers {
  if (servers.length > maxServers)
    throw new InvalidParamsError('mcpServers', `a session takes at most ${maxServers} tool servers`);
  const names = new Set<string>();
  return Object.fromEntries(
    servers.map((server, index) => [entryName(server.name, names), entryOf(server, index)]),
  );
}

function entryOf(server: McpServer, index: number): ToolServers[string] {
  if (!('type' in server)) return { command: server.command, args: server.args, env: recordOf(server.env) };
  if (server.type === 'http') return { type: 'http', url: server.url, headers: recordOf(server.headers) };
  throw new InvalidParamsError(
    `mcpServers[${index}].type`,
    `a tool server is spoken to over its standard input and output or over HTTP; "${server.type}" is not supported`,
  );
}

function recordOf(pairs: readonly { readonly name: string; readonly value: string }[]) {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

function entryName(name: string, taken: Set<string>): string {
  const plain = name.replace(/[^\w.-]/g, '_').slice(0, 60) || 'server';
  let free = plain;
  for (let number = 2; taken.has(free); number += 1) free = `${plain}_${number}`;
  taken.add(free);
  return free;
}
