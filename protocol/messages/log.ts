import type { InvalidParamsData } from './errors.ts';
import type { NotificationMessage, RequestMessage, ServerParams } from './messageTypes.ts';
import type { LogLevel } from './settings.ts';

export interface StartLogsResult {
  /** The path or the command that the lines come from. */
  readonly source: string;
}

/** Client to daemon: follow the logs of a runner on this host. */
export const startLogsRequest: RequestMessage<ServerParams, StartLogsResult> = {
  method: 'runner/logs/start',
};

/** Client to daemon: follow them no longer. */
export const stopLogsRequest: RequestMessage<ServerParams, StartLogsResult> = { method: 'runner/logs/stop' };

export interface LogParams {
  readonly level: LogLevel;
  readonly source: 'daemon' | 'server';
  readonly message: string;
  /**
   * What a client may show beside its log: the user's configuration file is wrong, a changed setting is wrong, a token
   * is not sent, or a tool server takes long to start.
   */
  readonly code?: 'configuration' | 'setting' | 'token' | 'tool-server';
  /** With `setting`: the setting, and why it stays as it was. */
  readonly refused?: InvalidParamsData;
}

/** Daemon to client: one line of a log, without secrets, prompts or answers. */
export const logNotification: NotificationMessage<LogParams> = { method: 'runner/log' };
