import { type ListedToolServer, listToolsRequest } from '../../../protocol/messages/tools.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { type Surroundings, write, writeLine } from '../cli/streams.ts';
import { chooseTools } from '../conversation/toolChoice.ts';
import { withDaemon } from '../daemon/connection.ts';
import { cutTo } from '../screen/columns.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { formatTable, lookOf, type TableLook } from '../screen/table.ts';
import { wrapText } from '../screen/wordWrap.ts';

/** Tool servers and what they offer: as a table, or one object a server. Returns 1 when one failed. */
export async function listTools(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, env } = surroundings;
  const { options } = chooseTools(surroundings, commandLine);
  const { servers } = await withDaemon(surroundings, { commandLine, ...options }, (daemon) =>
    daemon.request(listToolsRequest, {}),
  );
  if (commandLine.json) for (const server of servers) await writeLine(stdout, JSON.stringify(server));
  else if (servers.length === 0)
    await writeLine(
      stdout,
      'There is no tool server. Enter one in "mcpServers" of ~/.config/runner/config.json.',
    );
  else await write(stdout, toolsTable(servers, lookOf(stdout, env)));
  return servers.some(({ state }) => state === 'failed') ? 1 : 0;
}

/** A row for each tool; below them, why a server has none. */
export function toolsTable(
  servers: readonly ListedToolServer[],
  look: TableLook,
  isOn?: (server: string) => boolean,
): string {
  const rows = servers.flatMap(({ name, state: found, needsLogin, tools }) => {
    const state = needsLogin ? 'needs login' : found;
    const is = state !== 'ready' ? state : isOn === undefined ? state : isOn(name) ? 'on' : 'off';
    const first = [showLine(name), is];
    if (tools.length === 0) return [first];
    return tools.map((tool, index) => [
      ...(index === 0 ? first : ['', '']),
      showLine(tool.name),
      cutTo(showLine(tool.description.split('\n')[0] ?? ''), 70),
    ]);
  });
  const columns = ['SERVER', 'STATE', 'TOOL', 'WHAT IT DOES'].map((title) => ({ title }));
  const faults = servers.flatMap(({ message = '' }) => (message === '' ? [] : [`${showLine(message)}\n`]));
  const { width = Number.POSITIVE_INFINITY } = look;
  const below = faults.length === 0 ? '' : `\n${wrapText(faults.join(''), width)}`;
  return formatTable(columns, rows, look) + below;
}
