import type { ErrorKind } from '../../protocol/messages/errors.ts';
import { type AdvisedMessage, advise, RunnerError } from '../base/errors.ts';

/**
 * What a failed request to the catalog at `base` means for the user. The transport's sentence is about runners, so it
 * becomes the cause. Its kind stays, unless it is about a model or a prompt, which no catalog request has.
 */
export function failureOfCatalog(cause: RunnerError, base: string): RunnerError {
  const { status = 0 } = cause;
  const kind = notOfCatalogs.has(cause.kind) ? 'bad-response' : cause.kind;
  if (status >= 300 && status < 400) return new RunnerError(kind, redirected(base), { cause, status });
  return new RunnerError(kind, sentence(kind, base, status), { cause, status: cause.status });
}

/** The whole exchange took too long. */
export function tooSlow(base: string): RunnerError {
  return new RunnerError('timeout', sentence('timeout', base, 0));
}

/** The answer does not have the form of a list of models. */
export function notAList(base: string): RunnerError {
  return new RunnerError('bad-response', sentence('bad-response', base, 200));
}

/** A page without a link to a model: the sign-in page of a network, or a library with a new design. */
export function noModels(base: string): RunnerError {
  return new RunnerError(
    'bad-response',
    advise(
      `The model catalog at ${base} answered with a page that lists no models (${base}/library shows it).`,
      'set-catalog',
    ),
  );
}

/** The message does not quote the setting, because it may contain a password. */
export function notAnAddress(): RunnerError {
  return new RunnerError(
    'server-unreachable',
    advise('The setting catalogUrl is not an address such as https://ollama.com.', 'set-catalog'),
  );
}

/** The catalog was not to be asked, and nothing of it is known. */
export function notKept(base: string): RunnerError {
  return new RunnerError(
    'server-unreachable',
    `No list of the model catalog at ${base} is kept yet. Ask for it without "cached".`,
  );
}

const notOfCatalogs: ReadonlySet<ErrorKind> = new Set(['model-not-found', 'context-exceeded']);

function redirected(base: string): AdvisedMessage {
  return advise(
    `The model catalog at ${base} answered with a redirect, which is not followed.`,
    'set-catalog',
  );
}

function sentence(kind: ErrorKind, base: string, status: number): string | AdvisedMessage {
  const catalog = `The model catalog at ${base}`;
  switch (kind) {
    case 'server-unreachable':
      return advise(`${catalog} cannot be reached.`, 'check-network');
    case 'timeout':
      return advise(`${catalog} took too long to answer.`, 'check-network');
    case 'unauthorized':
      return advise(`${catalog} does not let this request in.`, 'set-token');
    case 'busy':
      return `${catalog} is busy. Ask again in a moment.`;
    case 'bad-response':
      return advise(
        `${catalog} did not answer with a list of models; there may be a proxy in between.`,
        'set-catalog',
      );
    case 'runner-failed':
      return `${catalog} failed${withStatus(status)}. Ask again later; installed models work without it.`;
    default:
      return advise(
        `${catalog} has no list of models at its usual place${withStatus(status)}.`,
        'set-catalog',
      );
  }
}

function withStatus(status: number): string {
  return status === 0 ? '' : ` (status ${status})`;
}
