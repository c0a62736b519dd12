import type { ErrorKind } from '../../protocol/errors.ts';
import { RunnerError } from '../errors.ts';

/**
 * What a failed request to the catalog at `base` means for the user. The transport speaks of runners, so its sentence
 * stays behind as the cause; its kind holds, except where it tells of a model or a prompt, which no catalog is asked for.
 */
export function failureOfCatalog(cause: RunnerError, base: string): RunnerError {
  const { status = 0 } = cause;
  const kind = notOfCatalogs.has(cause.kind) ? 'bad-response' : cause.kind;
  if (status >= 300 && status < 400) return new RunnerError(kind, redirected(base), { cause, status });
  return new RunnerError(kind, sentence(kind, base, status), { cause, status: cause.status });
}

/** The whole exchange took longer than a list is worth. */
export function tooSlow(base: string): RunnerError {
  return new RunnerError('timeout', sentence('timeout', base, 0));
}

/** An answer that is not in a form that a list of models has. */
export function notAList(base: string): RunnerError {
  return new RunnerError('bad-response', sentence('bad-response', base, 200));
}

/** A page without one link to a model: a sign-in page of a network, or a library that was built anew. */
export function noModels(base: string): RunnerError {
  return new RunnerError(
    'bad-response',
    `The model catalog at ${base} answered with a page that lists no models. ` +
      `Open ${base}/library in a browser to see what it is, or set runner.catalogUrl.`,
  );
}

/** The setting is not repeated: a password may be in it. */
export function notAnAddress(): RunnerError {
  return new RunnerError(
    'server-unreachable',
    'runner.catalogUrl is not an address. Set it to one such as https://ollama.com; installed models work without it.',
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
      return `${catalog} did not answer with a list of models. Check runner.catalogUrl, and whether a proxy stands in between.`;
    case 'runner-failed':
      return `${catalog} failed${withStatus(status)}. Ask again later; installed models work without it.`;
    default:
      return `${catalog} has no list of models at its usual place${withStatus(status)}. Check runner.catalogUrl.`;
  }
}

function withStatus(status: number): string {
  return status === 0 ? '' : ` (status ${status})`;
}
