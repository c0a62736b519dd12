import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import { stateFolder } from '../../../protocol/base/platform/folders.ts';
import { messageOf, showLine, stackOf } from '../../../protocol/base/text.ts';
import type { Advice } from '../../../protocol/messages/advice.ts';
import type { Message } from '../../../protocol/messages/chat.ts';
import type { ErrorData, ErrorKind, InvalidParamsData } from '../../../protocol/messages/errors.ts';
import type { ModelfileDiagnostic } from '../../../protocol/messages/modelfile.ts';
import { forTerminal } from '../daemon/advice.ts';

/** The kinds of errors on the wire, and those that only the terminal has. */
type FailureKind =
  | ErrorKind
  /** The command line or standard input is wrong. Exit code 2. */
  | 'usage'
  /** `runnerd` could not be started, or ended unexpectedly. */
  | 'daemon-failed'
  /** A bug in Runner. */
  | 'internal';

/** An error as the terminal reports it. */
interface CommandFailure {
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

/** The command line or standard input is wrong. */
export function usageError(message: string, options?: ErrorOptions): TerminalError {
  return new TerminalError('usage', message, options);
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

/** The environment, and the time of day. */
interface DefectSystem {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly today: () => Date;
}

/**
 * What to report about an error. A defect of the terminal itself is reported as one, and its stack is kept in a file:
 * the screen has no room for it, and no daemon logs it.
 */
export function reportOf(error: unknown, system: DefectSystem): CommandFailure {
  const failure = failureOf(error);
  if (failure.kind !== 'internal' || isOfSystem(error)) return failure;
  const path = keepStack(error, system);
  const where =
    path === undefined
      ? 'Its stack could not be kept, because the state folder cannot be written.'
      : `Its stack is in ${path}: please report both.`;
  const problem = failure.message.replace(/\.$/, '');
  return { ...failure, message: `This is a defect of Runner: ${problem}. ${where}` };
}

/** What the system refuses, such as a file that cannot be read, is no defect of ours. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/** In bytes. A larger file begins anew. */
const maxFile = 256 * 1024;

/** Returns the path of the file, which only the user can read. */
function keepStack(error: unknown, { env, today }: DefectSystem): string | undefined {
  const path = join(stateFolder(env), 'defects.log');
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const isFull = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxFile;
    const text = `${today().toISOString()} ${stackOf(error)}\n`;
    writeFileSync(path, text, { mode: 0o600, flag: isFull ? 'w' : 'a' });
    return path;
  } catch {
    return undefined;
  }
}
