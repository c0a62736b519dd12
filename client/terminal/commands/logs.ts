import { type LogParams, logNotification, startLogsRequest } from '../../../protocol/messages/log.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { type Surroundings, writeLine } from '../cli/streams.ts';
import { interruptible } from '../conversation/interruptible.ts';
import { TakeQueue } from '../conversation/takeQueue.ts';
import { withDaemon } from '../daemon/connection.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { type Style, styleFor } from '../screen/style.ts';

/** Follows the logs of a runner on this machine until Ctrl-C. */
export async function followLogs(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, stderr, env } = surroundings;
  const style = styleFor(stdout, env);
  const toLine = commandLine.json ? jsonOf : (log: LogParams) => colourOf(log, style)(showLine(log.message));
  return withDaemon(surroundings, { commandLine, logLevel: 'debug' }, async (daemon) => {
    const lines = new TakeQueue(daemon, (log: LogParams) => writeLine(stdout, toLine(log)));
    daemon.onNotification(logNotification, (log) => {
      if (log.source === 'server') lines.push(log);
    });
    await interruptible(surroundings, async (signal) => {
      const { source } = await daemon.request(startLogsRequest, {}, signal);
      await writeLine(stderr, `Following ${showLine(source)}. Ctrl-C ends it.`);
      await untilAborted(daemon, signal);
    });
    return 0;
  });
}

function jsonOf({ level, message }: LogParams): string {
  return JSON.stringify({ level, message });
}

function colourOf({ level }: LogParams, style: Style): (text: string) => string {
  const colours = { error: style.red, warn: style.yellow, info: (text: string) => text, debug: style.dim };
  return colours[level];
}

/** Rejects where the daemon is gone before. */
async function untilAborted({ gone }: Daemon, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  await Promise.race([aborted, gone]);
}
