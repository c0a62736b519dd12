import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { type LogParams, logNotification, startLogsRequest } from '../../../protocol/messages/log.ts';
import type { CommandContext } from '../cli/command.ts';
import { interruptible } from '../cli/signals.ts';
import { withDaemon } from '../daemon/connection.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { BackpressureQueue } from '../daemon/daemon.ts';
import type { Style } from '../screen/output.ts';

/** Follows the logs of a runner on this machine until Ctrl-C. */
export async function followLogs(context: CommandContext): Promise<number> {
  const { terminal, commandLine } = context;
  const { stdout, stderr } = terminal;
  const show = ({ level, message }: LogParams) =>
    commandLine.json
      ? stdout.writeJson({ level, message })
      : stdout.writeLine(colourOf(level, stdout.style)(showLine(message)));
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

function colourOf(level: LogParams['level'], style: Style): (text: string) => string {
  return { error: style.red, warn: style.yellow, info: (text: string) => text, debug: style.dim }[level];
}

/** Rejects if the daemon ends first. */
async function untilAborted({ gone }: DaemonClient, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  await Promise.race([aborted, gone]);
}
