import type { NotificationMessage, ProgressToken } from './messageTypes.ts';

/** One part of a piece of work: a layer that is downloaded, or a file that is hashed and uploaded. */
export interface PartProgress {
  /** Twelve digits of a layer's digest, or the name of a file. */
  readonly name: string;
  /** Bytes. It may fall when the runner begins a layer anew. */
  readonly completed: number;
  /** Bytes. */
  readonly total: number;
}

/**
 * The values of a work-done progress as LSP has them, with what a client that draws more than one bar needs besides.
 * At most ten reports a second; each holds all of the present state, so that a lost one is nothing.
 */
export type WorkProgress =
  | {
      readonly kind: 'begin';
      /** Such as `Pulling qwen3:4b`. */
      readonly title: string;
      readonly cancellable: true;
      readonly percentage: 0;
    }
  | {
      readonly kind: 'report';
      /** 0 to 100; it never falls. Absent while nothing can be counted. */
      readonly percentage?: number;
      /** What is being done, such as `Downloading: 1.2 of 4.7 GB`. */
      readonly message: string;
      /** Bytes of all parts that are known so far. */
      readonly completed?: number;
      readonly total?: number;
      /** In the order in which they began; at most 64. */
      readonly parts?: readonly PartProgress[];
    }
  | WorkEnd;

export interface WorkEnd {
  readonly kind: 'end';
  readonly message?: string;
}

export interface ProgressParams {
  readonly token: ProgressToken;
  readonly value: WorkProgress;
}

/** Daemon to client: LSP's own notification. */
export const progressNotification: NotificationMessage<ProgressParams> = { method: '$/progress' };
