import * as vscode from 'vscode';
import {
  type LogParams,
  logNotification,
  startLogsRequest,
  stopLogsRequest,
} from '../../protocol/messages/log.ts';
import type { DaemonConnection } from './daemon/connection.ts';
import { messageOf } from './errorText.ts';
import { streamLogs } from './settings.ts';

/** The first line about the log of the runner. */
const streamingLogs = 'The log of the runner is streamed, because the setting runner.streamLogs is on.';

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
  // Nothing here waits for the daemon: it is asked once it is connected.
  if (streamLogs()) log.debug(streamingLogs);
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
