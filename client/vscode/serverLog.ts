import type * as vscode from 'vscode';
import { type LogParams, logNotification, startLogsRequest } from '../../protocol/log.ts';
import type { DaemonConnection } from './daemon/connection.ts';

/** Begins to follow the log of the runner; that there is none to be found is a line of its own. */
export async function followLogs(daemon: DaemonConnection, log: vscode.LogOutputChannel): Promise<void> {
  try {
    const { source } = await daemon.request(startLogsRequest, {});
    log.info(`The log of the runner comes from ${source}.`);
  } catch (error) {
    log.warn(error instanceof Error ? error.message : String(error));
  }
}

/** What the daemon and the runner log, at their levels. */
export function showServerLog(daemon: DaemonConnection, log: vscode.LogOutputChannel): vscode.Disposable {
  const write: Readonly<Record<LogParams['level'], (text: string) => void>> = {
    debug: (text) => log.debug(text),
    info: (text) => log.info(text),
    warn: (text) => log.warn(text),
    error: (text) => log.error(text),
  };
  return daemon.onNotification(logNotification, ({ level, source, message }) =>
    write[level](source === 'server' ? `runner: ${message}` : message),
  );
}
