import * as vscode from 'vscode';
import { messageOf } from '../../../protocol/base/text.ts';
import {
  type LogParams,
  logNotification,
  startLogsRequest,
  stopLogsRequest,
} from '../../../protocol/messages/log.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { streamLogs } from '../settings.ts';

/** Shows the daemon's log, and, while the setting is on, the runner's log, each at its level. */
export function followLogs(daemon: DaemonConnection, log: vscode.LogOutputChannel): vscode.Disposable {
  const write: Readonly<Record<LogParams['level'], (text: string) => void>> = {
    debug: (text) => log.debug(text),
    info: (text) => log.info(text),
    warn: (text) => log.warn(text),
    error: (text) => log.error(text),
  };
  const follow = async () => {
    try {
      const { source } = await daemon.request(startLogsRequest, {});
      log.info(`The log of the runner comes from ${source}.`);
    } catch (error) {
      // A missing log is reported like any other line.
      log.warn(messageOf(error));
    }
  };
  if (streamLogs())
    log.debug('The log of the runner is streamed, because the setting runner.streamLogs is on.');
  const leave = () => daemon.request(stopLogsRequest, {}).catch((error) => log.debug(messageOf(error)));
  return vscode.Disposable.from(
    daemon.onNotification(logNotification, ({ level, source, message }) =>
      write[level](source === 'server' ? `runner: ${message}` : message),
    ),
    daemon.onDidConnect(() => {
      if (streamLogs()) void follow();
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('runner.streamLogs')) void (streamLogs() ? follow() : leave());
    }),
  );
}
