import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { Advice } from '../../../protocol/messages/advice.ts';
import type { Message } from '../../../protocol/messages/chat.ts';
import type { ErrorData, ErrorKind, InvalidParamsData } from '../../../protocol/messages/errors.ts';
import type { ModelfileDiagnostic } from '../../../protocol/messages/modelfile.ts';
import { forTerminal } from '../daemon/advice.ts';

/** The kinds of errors on the wire, and those that only the terminal has. */
export type FailureKind =
  | ErrorKind
  /** The command line or standard input is wrong. Exit code 2. */
  | 'usage'
  /** `runnerd` could not be started, or ended unexpectedly. */
  | 'daemon-failed'
  /** A bug in Runner. */
  | 'internal';

/** An error as the terminal reports it. */
export interface CommandFailure {
  readonly kind: FailureKind;
  readonly message: string;
  readonly retryable: boolean;
  readonly advice?: Advice;
  readonly partial?: Message;
  /** With tools: all messages that the turn had added. */
  readonly messages?: readonly Message[];
  /** The mistakes in a Modelfile. */
  readonly diagnostics?: readonly ModelfileDiagnostic[];
}

/** An error that did not come over the wire. Its message is a sentence for the user. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** What to report about an error of the daemon or of the terminal itself. */
export function failureOf(error: unknown): CommandFailure {
  const data = wireDataOf(error);
  const local = error instanceof TerminalError ? error.kind : 'internal';
  return withoutUndefined({
    kind: data?.kind ?? (isInvalidParams(error) ? 'invalid-request' : local),
    message: showLine(forTerminal(withoutUndefined({ message: messageOf(error), advice: data?.advice }))),
    advice: data?.advice,
    retryable: data?.retryable ?? false,
    partial: data?.partial as Message | undefined,
    messages: data?.messages as readonly Message[] | undefined,
    diagnostics: data?.diagnostics as readonly ModelfileDiagnostic[] | undefined,
  });
}

/** The parameter that the daemon refused, such as `initializationOptions.host`, and the reason. */
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
