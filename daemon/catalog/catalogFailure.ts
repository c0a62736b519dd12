import type { ErrorKind } from '../../protocol/errors.ts';
import { RunnerError } from '../errors.ts';

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
    `The model catalog at ${base} answered with a page that lists no models. ` +
      `Open ${base}/library in a browser to see what it is, or set runner.catalogUrl.`,
  );
}

/** The message does not quote the setting, because it may contain a password. */
export function notAnAddress(): RunnerError {
  return new RunnerError(
    'server-unreachable',
    'runner.catalogUrl is not an address. Set it to an address such as https://ollama.com; installed models work without it.',
  );
}

const notOfCatalogs: ReadonlySet<ErrorKind> = new Set(['model-not-found', 'context-exceeded']);

function redirected(base: string): string {
  return (
    `The model catalog at ${base} answered with a redirect, which is not followed. ` +
    'Set runner.catalogUrl to where the catalog itself answers; installed models work without it.'
  );
}

function sentence(kind: ErrorKind, base: string, status: number): string {
  const catalog = `The model catalog at ${base}`;
  switch (kind) {
    case 'server-unreachable':
      return `${catalog} cannot be reached. Check the network, or set runner.catalogUrl; installed models work without it.`;
    case 'timeout':
      return `${catalog} took too long to answer. Ask again later, or set runner.catalogUrl; installed models work without it.`;
    case 'unauthorized':
      return `${catalog} does not let this request in. Store an access token for its address, or check the one that is stored.`;
    case 'busy':
      return `${catalog} is busy. Ask again in a moment.`;
    case 'bad-response':
      return `${catalog} did not answer with a list of models. Check runner.catalogUrl, and whether there is a proxy in between.`;
    case 'runner-failed':
      return `${catalog} failed${withStatus(status)}. Ask again later; installed models work without it.`;
    default:
      return `${catalog} has no list of models at its usual place${withStatus(status)}. Check runner.catalogUrl.`;
  }
}

function withStatus(status: number): string {
  return status === 0 ? '' : ` (status ${status})`;
}
