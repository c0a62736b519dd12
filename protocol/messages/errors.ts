import type { Advice } from './advice.ts';

/** The stable names of what can go wrong, the same on the wire and in the terminal's `--json`. */
export type ErrorKind = keyof typeof errorCodes;

/** The JSON-RPC code of each kind. The range -33001 to -33099 is this protocol's own. */
export const errorCodes = {
  /** No connection, refused, DNS, TLS, or the connection was lost before any answer. */
  'server-unreachable': -33001,
  /** One of the daemon's own time limits ran out. */
  timeout: -33002,
  /** The runner answered 401 or 403. */
  unauthorized: -33003,
  /** The runner answered 404 with a JSON error that names a model. */
  'model-not-found': -33004,
  /** The model cannot do what was asked, or the runner does not have the route. */
  'not-supported': -33005,
  /** The prompt is longer than the window. */
  'context-exceeded': -33006,
  /** 503, 429, or a running model is in the way. */
  busy: -33007,
  /** HTML, invalid JSON, a wrong shape, too large, a redirect, or a stream that ends without `done`. */
  'bad-response': -33008,
  /** The runner itself failed: 5xx or an error line. */
  'runner-failed': -33009,
  /** The Modelfile has mistakes; `data.diagnostics` says where. */
  'invalid-modelfile': -33010,
  /** The runner refused the request: any other 4xx. */
  'invalid-request': -33011,
} as const;

/** The kinds for which the same request may succeed later. */
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
  /** What can be done about it, if the message ends in that. */
  readonly advice?: Advice;
  /** The name of the server that was asked. */
  readonly server?: string;
  readonly model?: string;
  /** With `not-supported`: what the model cannot do. */
  readonly capability?: string;
  /** The part of a chat's answer that arrived before it failed: a `Message`. */
  readonly partial?: unknown;
  /** With `hostedTools`: all `Message`s that the turn had added, including what had arrived of the last one. */
  readonly messages?: readonly unknown[];
  /** With `unauthorized`: where to sign in, if the runner named an address. */
  readonly signinUrl?: string;
  /** With `busy`: seconds to wait, if the runner named them. */
  readonly retryAfter?: number;
  /** With `context-exceeded`: the estimated tokens of the prompt. */
  readonly needed?: number;
  /** With `context-exceeded`: the tokens of the window. */
  readonly allocated?: number;
  /** With `context-exceeded`: the tokens of the largest window that the model can have. */
  readonly maximum?: number;
  /** With `runner-failed`: the model did not fit into what is left of the memory. */
  readonly outOfMemory?: true;
  /** With `invalid-modelfile`. */
  readonly diagnostics?: readonly unknown[];
}

/** The `data` of a `-32602` (invalid params) answer. */
export interface InvalidParamsData {
  /** What is wrong, such as `messages[0].role`. */
  readonly path: string;
  /** Why it is wrong, in words that follow a colon. */
  readonly problem: string;
}
