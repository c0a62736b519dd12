import { anyOf } from '../../protocol/base/text.ts';
import type { Advice, AdviceCode, AdviceMessage } from '../../protocol/messages/advice.ts';
import {
  type ErrorData,
  type ErrorKind,
  errorCodes,
  retryableKinds,
} from '../../protocol/messages/errors.ts';

export type ErrorDetails = Omit<ErrorData, 'kind' | 'retryable'>;

/**
 * A failure that crosses the wire: a stable kind, a sentence that says what the user can do next, and what a program
 * needs to act on it. The message never holds a secret or a prompt.
 */
export class RunnerError extends Error {
  /** Each bundle has a class of its own, and errors of one reach another. */
  static override [Symbol.hasInstance](value: unknown): value is RunnerError {
    return value instanceof Error && value.name === 'RunnerError';
  }

  override readonly name = 'RunnerError';
  readonly kind: ErrorKind;
  readonly details: ErrorDetails;
  /** The status of the HTTP answer that caused it, if there was one. It does not cross the wire. */
  readonly status: number | undefined;

  constructor(
    kind: ErrorKind,
    message: string | AdvisedMessage,
    options: { details?: ErrorDetails; cause?: unknown; status?: number | undefined } = {},
  ) {
    super(typeof message === 'string' ? message : message.message, options);
    this.kind = kind;
    this.details =
      typeof message === 'string' ? (options.details ?? {}) : { ...options.details, advice: message.advice };
    this.status = options.status;
  }

  get code(): number {
    return errorCodes[this.kind];
  }

  get data(): ErrorData {
    return { kind: this.kind, retryable: retryableKinds.has(this.kind), ...this.details };
  }

  /** The same failure with more details; details that it already has stay as they are. */
  with(details: ErrorDetails): RunnerError {
    return new RunnerError(this.kind, this.message, {
      details: { ...details, ...this.details },
      cause: this.cause,
      status: this.status,
    });
  }

  /** The same failure with the status of the HTTP answer that caused it. */
  ofStatus(status: number): RunnerError {
    return new RunnerError(this.kind, this.message, { details: this.details, cause: this.cause, status });
  }
}

export function isKind(error: unknown, kind: ErrorKind): boolean {
  return error instanceof RunnerError && error.kind === kind;
}

/** A parameter that does not follow the protocol; `path` names it, such as `messages[0].role`. */
export class InvalidParamsError extends Error {
  /** Each bundle has a class of its own, as above. */
  static override [Symbol.hasInstance](value: unknown): value is InvalidParamsError {
    return value instanceof Error && value.name === 'InvalidParamsError';
  }

  override readonly name = 'InvalidParamsError';
  readonly path: string;
  /** What is wrong, without the path. */
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(
      path === ''
        ? `The parameters are not valid: ${problem}.`
        : `The parameter "${path}" is not valid: ${problem}.`,
    );
    this.path = path;
    this.problem = problem;
  }
}

export type AdvisedMessage = Required<AdviceMessage>;

/** What every client can show as it is. Clients with words of their own go by the code. */
const texts: Readonly<
  Record<Exclude<AdviceCode, 'use-https' | 'log-in' | 'wait-for-restart' | WindowAdvice>, string>
> = {
  'start-runner': 'Start it (for example with "ollama serve" or "llama-server"), or set the runner address.',
  'check-address': 'Check the runner address.',
  'check-proxy': 'Check the runner address, and whether there is a proxy in between.',
  'set-address': 'Set the runner address to where the runner itself answers.',
  'name-ca-file': 'If it is your own, name its CA file in the settings.',
  'set-token': 'Store an access token for this server, or check the one that is stored.',
  'set-password': 'Store "user:password" for this server, or check the one that is stored.',
  'check-network': 'Check the network, or set runner.catalogUrl; installed models work without it.',
  'set-catalog': 'Set runner.catalogUrl to where a catalog answers; installed models work without it.',
};

/** The message that says what is wrong and what can be done about it. */
export function advise(problem: string, code: keyof typeof texts): AdvisedMessage {
  return withAdvice({ code, problem, text: texts[code] });
}

type WindowAdvice = 'shorten-prompt' | 'offer-fewer-tools' | 'make-room';

/** @param contextLength as in {@link Advice}. */
export function adviseOnWindow(problem: string, code: WindowAdvice, contextLength?: number): AdvisedMessage {
  const larger = contextLength === undefined ? 'larger context length' : `context length of ${contextLength}`;
  const enlarge = contextLength === 0 ? undefined : `set a ${larger}`;
  const text = {
    'shorten-prompt': `${anyOf('Shorten it', 'start a new chat', enlarge)}.`,
    'offer-fewer-tools': `Most of it describes the tools: ${anyOf('offer fewer tools', enlarge)}.`,
    'make-room': `${anyOf('Start a new chat', enlarge)} before anything is refused.`,
  }[code];
  return withAdvice({ code, problem, text, ...(contextLength === undefined ? {} : { contextLength }) });
}

/** Puts another problem in front of the one that the advice is about. */
export function sayAfter(problem: string, { advice }: AdvisedMessage): AdvisedMessage {
  return withAdvice({ ...advice, problem: `${problem} ${advice.problem}` });
}

/** The message for advice whose words depend on what it is about. */
export function withAdvice(advice: Advice): AdvisedMessage {
  return { message: `${advice.problem} ${advice.text}`, advice };
}
