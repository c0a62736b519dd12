import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { homeFolder } from '../../../protocol/base/platform/folder.ts';
import { type EffectiveSetting, listSettingsRequest } from '../../../protocol/messages/settings.ts';
import type { CommandContext } from '../cli/command.ts';
import { namedRunner, withDaemon } from '../daemon/connection.ts';
import { formatTable } from '../screen/table.ts';

/** Shows every setting, its value and where it comes from. */
export async function showConfig(context: CommandContext): Promise<number> {
  const { terminal, commandLine } = context;
  const { stdout, stderr, env } = terminal;
  const { path, settings } = await withDaemon(context, {}, (daemon) =>
    daemon.request(listSettingsRequest, {}),
  );
  if (commandLine.json) {
    for (const setting of settings) await stdout.writeJson({ ...setting, from: sourceOf(setting, context) });
    return 0;
  }
  const columns = [{ title: 'SETTING' }, { title: 'VALUE', isFlexible: true }, { title: 'FROM' }];
  const rows = settings.map((setting) => [
    setting.name,
    describe(setting.value),
    { default: '', file: 'the file' }[sourceOf(setting, context)] ?? sourceOf(setting, context),
  ]);
  await stdout.write(formatTable(columns, rows, stdout));
  const home = homeFolder(env);
  const shortPath = home !== '' && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
  await stderr.writeText(
    stderr.style.dim(`The file is ${showLine(shortPath)}. Tokens, arguments and headers are not shown.`),
  );
  return 0;
}

/** `default`, `file`, or what on this machine or command line said so. */
function sourceOf({ name, from }: EffectiveSetting, context: CommandContext): string {
  if (from === 'environment') return 'OLLAMA_HOST';
  if (from !== 'client') return from;
  return (name === 'host' ? namedRunner(context)?.by : undefined) ?? 'the terminal';
}

function describe(value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'string') return showLine(value);
  return isEmpty(value) ? 'none' : showLine(JSON.stringify(value));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
