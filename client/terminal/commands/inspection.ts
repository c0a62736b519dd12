import { showLine } from '../../../protocol/base/text.ts';
import { type LogParams, logNotification, startLogsRequest } from '../../../protocol/messages/log.ts';
import { type EffectiveSetting, listSettingsRequest } from '../../../protocol/messages/settings.ts';
import type { CommandContext } from '../cli/command.ts';
import { interruptible, shortPath } from '../cli/terminal.ts';
import { namedRunner, withDaemon } from '../daemon/connection.ts';
import { BackpressureQueue, type DaemonClient } from '../daemon/daemon.ts';
import { formatTable } from '../screen/columns.ts';

/** Shows every setting, its value and where it comes from. */
export async function showConfig(context: CommandContext): Promise<number> {
  const { terminal, commandLine } = context;
  const { stdout, stderr } = terminal;
  const { path, settings } = await withDaemon(context, {}, (daemon) =>
    daemon.request(listSettingsRequest, {}),
  );
  if (commandLine.json) {
    for (const setting of settings) await stdout.writeJson({ ...setting, from: sourceOf(setting, context) });
    return 0;
  }
  const columns = ['SETTING', { title: 'VALUE', isFlexible: true }, 'FROM'];
  const rows = settings.map((setting) => [
    setting.name,
    describe(setting.value),
    { default: '', file: 'the file' }[sourceOf(setting, context)] ?? sourceOf(setting, context),
  ]);
  await stdout.write(formatTable(columns, rows, stdout));
  const about = `The file is ${shortPath(terminal, path)}. Tokens, arguments and headers are not shown.`;
  await stderr.writeAside(about);
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

/** Follows the logs of a runner on this machine until Ctrl-C. */
export async function followLogs(context: CommandContext): Promise<number> {
  const { terminal, commandLine } = context;
  const { stdout, stderr } = terminal;
  const { red, yellow, dim } = stdout.style;
  const colours = { error: red, warn: yellow, info: (text: string) => text, debug: dim };
  const show = ({ level, message }: LogParams) =>
    commandLine.json
      ? stdout.writeJson({ level, message })
      : stdout.writeLine(colours[level](showLine(message)));
  return withDaemon(context, { logLevel: 'debug' }, async (daemon) => {
    const lines = new BackpressureQueue(daemon, show);
    daemon.onNotification(logNotification, (log) => {
      if (log.source === 'server') lines.push(log);
    });
    await interruptible(terminal, async (signal) => {
      const { source } = await daemon.request(startLogsRequest, {}, signal);
      await stderr.writeLine(`Following ${showLine(source)}. Ctrl-C ends it.`);
      await untilAborted(daemon, signal);
    });
    return 0;
  });
}

/** Rejects if the daemon ends first. */
async function untilAborted({ gone }: DaemonClient, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  await Promise.race([aborted, gone]);
}
