import { tryJson } from '../../../protocol/base/json.ts';
import type { RunnerError } from '../../base/errors.ts';
import { isNestedTooDeep } from '../../base/nesting.ts';
import {
  contextExceeded,
  detailsOf,
  type ErrorBody,
  type ErrorTexts,
  notSupported,
  runnerFailed,
  type Subject,
} from '../http/answerFailure.ts';
import { failureOfDownload } from './downloadFailure.ts';

/** The most characters that are kept of a runner's own sentence. */
const maxErrorText = 2_000;

const contextTexts =
  /input length exceeds the context length|longer than the context length|exceeds? the available context size/i;

/** How Ollama says what failed. */
export const ollamaErrors: ErrorTexts = {
  read: parseErrorBody,
  known: ({ error }, subject) => failureOfText(error, subject),
};

/** The error for an error line in a stream whose status was 200. */
export function failureOfErrorLine(line: string, subject: Subject): RunnerError {
  const text = subject.redact(line).slice(0, maxErrorText);
  return (failureOfText(text, subject) ?? runnerFailed(text)).with(detailsOf(subject));
}

/** Failures that are known by the text alone, whatever the status. */
function failureOfText(text: string, subject: Subject): RunnerError | undefined {
  if (contextTexts.test(text)) return contextExceeded(figuresIn(text));
  const capability = capabilityInText(text);
  return capability === undefined ? failureOfDownload(text, subject) : notSupported(capability, subject);
}

/** Some engines name the figures: `request (26012 tokens) exceeds the available context size (4096 tokens)`. */
function figuresIn(text: string): { needed?: number; allocated?: number } {
  const [, needed, allocated] = /\((\d+) tokens?\).*?\((\d+) tokens?\)/s.exec(text) ?? [];
  return needed && allocated ? { needed: Number(needed), allocated: Number(allocated) } : {};
}

/**
 * Several missing capabilities are separated by newlines. `tools` takes precedence, because the daemon acts on it. Any
 * other word names something that the engine or the driver lacks, so another model would not help.
 */
function capabilityInText(text: string): string | undefined {
  const list = /does not support ([\s\S]*)$/i
    .exec(text)?.[1]
    ?.split(/[\n.]/)
    .map((word) => word.trim().split(/\s/)[0] ?? '');
  const named = list?.filter((word) => capabilityWords.test(word));
  return named?.includes('tools') ? 'tools' : named?.[0];
}

const capabilityWords =
  /^(tools|thinking|vision|insert|completion|chat|generate|embed(ding)?s?|images?|audio)$/i;

/** Reads the runner's `{ error, signin_url? }`. The `error` may itself be the JSON text of an inner error. */
function parseErrorBody(body: string, { redact }: Subject): ErrorBody | undefined {
  const value = jsonOf(body);
  if (typeof value !== 'object' || value === null || !('error' in value)) return undefined;
  const signin = 'signin_url' in value && typeof value.signin_url === 'string' ? value.signin_url : undefined;
  const error = redact(innerText(value.error)).slice(0, maxErrorText);
  return { error, ...(signin !== undefined && /^https:\/\//i.test(signin) ? { signinUrl: signin } : {}) };
}

function innerText(error: unknown): string {
  const inner = typeof error === 'string' ? (error.startsWith('{') ? jsonOf(error) : undefined) : error;
  if (typeof inner === 'object' && inner !== null) {
    if ('error' in inner) return innerText(inner.error);
    if ('message' in inner && typeof inner.message === 'string') return inner.message;
  }
  return typeof error === 'string' ? error : JSON.stringify(error);
}

/** JSON that is nested too deep counts as no JSON. */
function jsonOf(text: string): unknown {
  return isNestedTooDeep(text) ? undefined : tryJson(text);
}
