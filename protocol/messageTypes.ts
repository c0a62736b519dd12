/**
 * A request of the `runner/` namespace: its method, with the types of both directions carried along.
 * `types` exists for the compiler alone and is never set.
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

/** What every request about a runner takes besides its own parameters. */
export interface ServerParams {
  /** A name of `servers`; absent means the server at `host`, whose name is `default`. */
  readonly server?: string;
}

/** LSP's token of work-done progress. */
export type ProgressToken = string | number;

/** Parameters of a request that reports work-done progress. */
export interface WorkDoneParams {
  /** Absent: the daemon makes a token where the editor has `window.workDoneProgress`. */
  readonly workDoneToken?: ProgressToken;
}
