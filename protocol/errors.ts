/** The stable names of what can go wrong, the same on the wire and in the terminal's `--json`. */
export type ErrorKind = keyof typeof errorCodes;

/** The JSON-RPC code of each kind. The range -33001 to -33099 is this protocol's own. */
export const errorCodes = {
  /** No connection, refused, DNS, TLS, or the connection was lost before any answer. */
  'server-unreachable': -33001,
  /** A time limit of ours ran out. */
  timeout: -33002,
  /** The runner answered 401 or 403. */
  unauthorized: -33003,
  /** The runner answered 404 with a JSON error that names a model. */
  'model-not-found': -33004,
  /** The model cannot do what was asked, or the route is not there. */
  'not-supported': -33005,
  /** The prompt is longer than the window. */
  'context-exceeded': -33006,
  /** 503, 429, or a running model in the way. */
  busy: -33007,
  /** HTML, not JSON, wrong shape, too large, a redirect, a stream that ends without `done`. */
  'bad-response': -33008,
  /** The runner itself failed: 5xx or an error line. */
  'runner-failed': -33009,
  /** A Modelfile with mistakes; `data.diagnostics` says where. */
  'invalid-modelfile': -33010,
  /** The runner refused the request as it was put: any other 4xx. */
  'invalid-request': -33011,
} as const;

/** The kinds where asking the same thing again later may help. */
export const retryableKinds: ReadonlySet<ErrorKind> = new Set([
  'server-unreachable',
  'timeout',
  'busy',
  'bad-response',
  'runner-failed',
]);

/** The `data` of every error whose code is in {@link errorCodes}. */
export interface ErrorData {
  readonly kind: ErrorKind;
  readonly retryable: boolean;
  /** The name of the server that was asked. */
  readonly server?: string;
  readonly model?: string;
  /** What the model cannot do, with `not-supported`. */
  readonly capability?: string;
  /** What had come of a chat's answer before it failed: a `Message`. */
  readonly partial?: unknown;
  /** With hosted tools: all `Message`s that the turn had added, with what had come of the last one. */
  readonly messages?: readonly unknown[];
  /** Where to sign in, with `unauthorized`, when the runner named an address. */
  readonly signinUrl?: string;
  /** Seconds, with `busy`, when the runner said so. */
  readonly retryAfter?: number;
  /** Estimated tokens of the prompt, with `context-exceeded`. */
  readonly needed?: number;
  /** Tokens of the window, with `context-exceeded`. */
  readonly allocated?: number;
  /** With `invalid-modelfile`. */
  readonly diagnostics?: readonly unknown[];
}

/** The `data` of a `-32602` (invalid params) answer. */
export interface InvalidParamsData {
  /** What is wrong, such as `messages[0].role`. */
  readonly path: string;
}
