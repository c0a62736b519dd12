import type { NotificationMessage, RequestMessage, ServerParams } from './messageTypes.ts';

export interface Status {
  readonly state: 'checking' | 'online' | 'busy' | 'offline';
  readonly kind: 'ok' | 'warning' | 'error';
  /** A sentence for the user. */
  readonly message: string;
  /** The runner's version, if known. */
  readonly version?: string;
  /** The command that would solve the problem. */
  readonly command?: {
    readonly title: string;
    readonly command: string;
    readonly arguments?: readonly unknown[];
  };
}

/** Client to daemon: ask for the runner's status. */
export const statusRequest: RequestMessage<ServerParams, Status> = { method: 'runner/status' };

/** Daemon to client: the runner's status changed. */
export const statusDidChange: NotificationMessage<Status> = { method: 'runner/status/didChange' };
