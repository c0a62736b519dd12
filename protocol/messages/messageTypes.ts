/**
 * A request of the `runner/` namespace: its method, which carries the types of both directions. `types` exists for the
 * compiler alone and is never set.
 */
export interface RequestMessage<Params, Result> {
  readonly method: string;
  readonly types?: (params: Params) => Result;
}

/** A notification of the `runner/` namespace. */
export interface NotificationMessage<Params> {
  readonly method: string;
  readonly types?: (params: Params) => void;
}

/** What every request about a runner takes in addition to its own parameters. */
export interface ServerParams {
  /** A name of `servers`; absent means the server at `host`, whose name is `default`. */
  readonly server?: string;
}

/** LSP's token of work-done progress. */
export type ProgressToken = string | number;

/** Parameters of a request that reports work-done progress. */
export interface WorkDoneParams {
  /** Without it the daemon makes a token, if the editor has `window.workDoneProgress`. */
  readonly workDoneToken?: ProgressToken;
}

/** As in LSP: both count from 0, characters in UTF-16 code units. */
export interface TextPosition {
  readonly line: number;
  readonly character: number;
}

export interface TextRange {
  readonly start: TextPosition;
  readonly end: TextPosition;
}

/** One part of some work: a layer that is downloaded, or a file that is hashed and uploaded. */
export interface PartProgress {
  /** The first twelve digits of a layer's digest, or the name of a file. */
  readonly name: string;
  /** Bytes. It may fall when the runner starts a layer again. */
  readonly completed: number;
  /** Bytes. */
  readonly total: number;
}

/**
 * The values of work-done progress as in LSP, plus what a client needs to draw more than one bar. There are at most ten
 * reports a second. Each holds the whole current state, so a lost one does no harm.
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
      /**
       * It never falls, and it is absent while nothing can be counted.
       * @type number
       * @minimum 0
       * @maximum 100
       */
      readonly percentage?: number;
      /** What is happening, such as `Downloading: 1.2 of 4.7 GB`. */
      readonly message: string;
      /** Bytes of all parts that are known so far. */
      readonly completed?: number;
      readonly total?: number;
      /**
       * In the order in which they started.
       * @maxItems 64
       */
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
