import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { Advice } from '../../../protocol/messages/advice.ts';
import type { Message } from '../../../protocol/messages/chat.ts';
import type { ErrorData, ErrorKind, InvalidParamsData } from '../../../protocol/messages/errors.ts';
import type { ModelfileDiagnostic } from '../../../protocol/messages/modelfile.ts';
import { forTerminal } from '../daemon/advice.ts';

/** The kinds of the wire, and those that only a terminal can tell. */
export type FailureKind =
  | ErrorKind
  /** The words of the command line, or what was piped in, are not as they must be: exit code 2. */
  | 'usage'
  /** `runnerd` could not be started, or ended before it was told to. */
  | 'daemon-failed'
  /** A defect of ours. */
  | 'internal';

/** An error as the terminal tells it. */
export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
  readonly retryable: boolean;
  readonly advice?: Advice;
  readonly partial?: Message;
  /** With tools: all that the turn had added. */
  readonly messages?: readonly Message[];
  /** Of a Modelfile with mistakes. */
  readonly diagnostics?: readonly ModelfileDiagnostic[];
}

/** An error that never was on the wire. Its message is a sentence for the user. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** What the daemon said of a failure, or what became of the daemon. */
export function failureOf(error: unknown): Failure {
  const data = wireDataOf(error);
  const said = error instanceof Error ? error.message : String(error);
  const local = error instanceof TerminalError ? error.kind : 'internal';
  return withoutUndefined({
    kind: data?.kind ?? (isInvalidParams(error) ? 'invalid-request' : local),
    message: showLine(forTerminal(withoutUndefined({ message: said, advice: data?.advice }))),
    advice: data?.advice,
    retryable: data?.retryable ?? false,
    partial: data?.partial as Message | undefined,
    messages: data?.messages as readonly Message[] | undefined,
    diagnostics: data?.diagnostics as readonly ModelfileDiagnostic[] | undefined,
  });
}

/** The parameter that the daemon refused, such as `initializationOptions.host`, and why. */
export function refusedParameter(error: unknown): InvalidParamsData | undefined {
  const data = dataOf(error);
  return isInvalidParams(error) && typeof data?.['path'] === 'string'
    ? (data as unknown as InvalidParamsData)
    : undefined;
}

function isInvalidParams(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === -32602;
}

function wireDataOf(error: unknown): ErrorData | undefined {
  const data = dataOf(error);
  return typeof data?.['kind'] === 'string' ? (data as unknown as ErrorData) : undefined;
}

function dataOf(error: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!(error instanceof Error) || !('data' in error)) return undefined;
  const { data } = error;
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : undefined;
}
