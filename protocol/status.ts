import type { NotificationMessage, RequestMessage, ServerParams } from './messageTypes.ts';

export interface Status {
  readonly state: 'checking' | 'online' | 'busy' | 'offline';
  readonly kind: 'ok' | 'warning' | 'error';
  /** A sentence for the user. */
  readonly message: string;
  /** The runner's, when it is known. */
  readonly version?: string;
  /** What would mend it. */
  readonly command?: {
    readonly title: string;
    readonly command: string;
    readonly arguments?: readonly unknown[];
  };
}

/** Client to daemon: ask the runner how it is. */
export const statusRequest: RequestMessage<ServerParams, Status> = { method: 'runner/status' };

/** Daemon to client: how the runner is changed. */
export const statusDidChange: NotificationMessage<Status> = { method: 'runner/status/didChange' };
