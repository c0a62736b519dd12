import { isRecord, withoutUndefined } from '../../../protocol/base/json.ts';
import type { CapabilityName } from '../../../protocol/messages/models.ts';
import { RunnerError } from '../../base/errors.ts';
import {
  contextExceeded,
  detailsOf,
  type ErrorTexts,
  errorJson,
  figuresInParentheses,
  noRoute,
  notSupported,
  type PromptFigures,
  runnerFailed,
  type Subject,
  sentenceOf,
  sentenceWithoutEnd,
} from '../http/answerFailure.ts';

/** How servers of OpenAI's API say what failed: `{ error: { message, type, code } }`, or one of its variations. */
export const openaiErrors: ErrorTexts = {
  read(body, subject) {
    const value = errorJson(body);
    const error = sentenceOf(value, subject.redact);
    if (error === undefined) return undefined;
    return withoutUndefined({ error, failure: failureOf(error, value, subject) });
  },
};

/** @throws {RunnerError} if an event is a failure, in a stream whose status was 200. */
export function refuseFailure(name: string, value: unknown, subject: Subject): void {
  const error = isRecord(value) ? value['error'] : undefined;
  if (name === 'error' || (error !== undefined && error !== null)) throw failureOfEvent(value, subject);
}

/** The error that such an event is. */
export function failureOfEvent(value: unknown, subject: Subject): RunnerError {
  const text = sentenceOf(value, subject.redact) ?? 'it gave no reason';
  return (failureOf(text, value, subject) ?? runnerFailed(text)).with(detailsOf(subject));
}

/** Failures that are known by what was said, whatever the status. */
function failureOf(text: string, value: unknown, subject: Subject): RunnerError | undefined {
  if (contextTexts.test(text)) return contextExceeded(figuresIn(text, value));
  const lacking = lacks.find(([words]) => words.test(text));
  if (lacking) return notSupported(lacking[1], subject);
  if (/^file not found$/i.test(text)) return noRoute(subject);
  if (/^model ['`"].*['`"] not found|^the model ['`"].*['`"] does not exist|model .*not found/i.test(text))
    return noSuchModel(subject);
  if (/failed to load/i.test(text)) return failedToLoad(text);
  if (grammarTexts.test(text)) return noGrammar(text);
  return undefined;
}

/** Strict servers refuse the fields that switch thinking. */
const thinkingTexts =
  /does not support (?:thinking|reasoning)|(?:unrecognized|unknown|unexpected|unsupported|extra)\b.{0,80}?chat_template_kwargs|chat_template_kwargs.{0,80}?(?:not permitted|not supported|unsupported)/i;

/** The field of a level, which is sent beside the switch. */
const levelTexts =
  /(?:unrecognized|unknown|unexpected|unsupported|extra|invalid)\b.{0,80}?reasoning_effort|reasoning_effort.{0,80}?(?:not permitted|not supported|unsupported|invalid)/i;

/** Words for what a model lacks. The first that apply count. */
const lacks: readonly (readonly [RegExp, CapabilityName | 'levels of thinking'])[] = [
  [
    /requires --enable-auto-tool-choice|does not support tools|tools? (?:use |calling )?(?:is|are) not supported/i,
    'tools',
  ],
  [/image input is not supported|not a multimodal model|does not support (?:images?|vision)/i, 'vision'],
  [thinkingTexts, 'thinking'],
  [levelTexts, 'levels of thinking'],
  [/infill is not supported|does not support (?:insert|suffix)/i, 'insert'],
  [/does not support embedding/i, 'embedding'],
];

/** Of llama.cpp, which holds calls and formats to their schemas by a grammar, and of LM Studio. */
const grammarTexts =
  /failed to parse grammar|failed to initialize samplers|JSON schema conversion failed|exceeds sane defaults|unrecognized schema:|pattern must start with/i;

/** Whether the server could not make a grammar of a schema. */
export function isSchemaRefusal(error: unknown): error is RunnerError {
  return error instanceof RunnerError && grammarTexts.test(error.message);
}

const contextTexts =
  /exceeds? the available context size|maximum context length|longer than the model['’]s context length|context length of only|greater than the context length|context (?:window|length) (?:is )?(?:too small|exceeded)|context the overflows/i;

/** llama.cpp has the figures in fields, and others have them in their sentence. */
function figuresIn(text: string, value: unknown): PromptFigures {
  const error = isRecord(value) && isRecord(value['error']) ? value['error'] : {};
  const { n_prompt_tokens: needed, n_ctx: allocated } = error;
  if (typeof needed === 'number' && typeof allocated === 'number') return { needed, allocated };
  const inParentheses = figuresInParentheses(text);
  if (inParentheses) return inParentheses;
  const limit = /context length (?:is|of)(?: only)? (\d+)/i.exec(text)?.[1];
  const asked = /(?:requested|contains at least|keep the first|prompt contains|resulted in) (\d+)/i.exec(
    text,
  )?.[1];
  return {
    ...(asked === undefined ? {} : { needed: Number(asked) }),
    ...(limit === undefined ? {} : { allocated: Number(limit) }),
  };
}

/** These servers serve what they were started with, so nothing can be pulled. */
export function noSuchModel({ url, model }: Subject): RunnerError {
  const what = model === undefined ? 'this model' : `a model named ${model}`;
  return new RunnerError('model-not-found', `${url} does not serve ${what}. Choose one that it lists.`);
}

function noGrammar(text: string): RunnerError {
  return new RunnerError(
    'invalid-request',
    `The runner cannot hold an answer to the schemas of its tools or its format: ${sentenceWithoutEnd(text)}. Offer fewer tools, or simplify the format.`,
  );
}

export function failedToLoad(text: string): RunnerError {
  return new RunnerError(
    'runner-failed',
    `The runner could not load the model: ${sentenceWithoutEnd(text)}. Look at the runner's own log.`,
  );
}
