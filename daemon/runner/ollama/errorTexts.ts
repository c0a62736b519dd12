import { isRecord } from '../../../protocol/base/json.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { RunnerError } from '../../base/errors.ts';
import {
  contextExceeded,
  detailsOf,
  type ErrorBody,
  type ErrorTexts,
  notSupported,
  runnerFailed,
  type Subject,
} from '../http/answerFailure.ts';
import { errorJson, sentenceOf } from '../http/errorBody.ts';
import { failureOfDownload } from './downloadFailure.ts';

const contextTexts =
  /input length exceeds the context length|longer than the context length|exceeds? the available context size/i;

/** A model that can only be told whether to think, not how much. */
const levelTexts = /think value .*not supported/i;

/** How Ollama says what failed. */
export const ollamaErrors: ErrorTexts = { read: parseErrorBody };

/** The error for an error line in a stream whose status was 200. */
export function failureOfErrorLine(line: string, subject: Subject): RunnerError {
  const text = sentenceOf(line, subject.redact) ?? line;
  return (failureOfText(text, subject) ?? runnerFailed(text)).with(detailsOf(subject));
}

/** Failures that are known by the text alone, whatever the status. */
function failureOfText(text: string, subject: Subject): RunnerError | undefined {
  if (contextTexts.test(text)) return contextExceeded(figuresIn(text));
  const capability = levelTexts.test(text) ? 'levels of thinking' : capabilityInText(text);
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

/** Reads `{ error, signin_url? }`. */
function parseErrorBody(body: string, subject: Subject): ErrorBody | undefined {
  const value = errorJson(body);
  if (!isRecord(value) || !('error' in value)) return undefined;
  const error = sentenceOf(value, subject.redact) ?? JSON.stringify(value['error']);
  const { signin_url: signin } = value;
  const signinUrl = typeof signin === 'string' && /^https:\/\//i.test(signin) ? signin : undefined;
  return withoutUndefined({ error, signinUrl, failure: failureOfText(error, subject) });
}
