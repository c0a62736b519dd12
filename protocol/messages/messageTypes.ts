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
