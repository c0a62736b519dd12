import { randomUUID } from 'node:crypto';
import { isRecord, tryJson } from '../../../protocol/base/json.ts';

/** How an answer came about. */
export interface Tally {
  readonly promptTokens: number;
  /** How many of them were still in memory. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly end: 'eos' | 'word' | 'limit';
  /** Both times in ms. */
  readonly promptTime: number;
  readonly answerTime: number;
}

/** How an answer is written, in one of the forms of llama.cpp's server: as a whole, or as the events of a stream. */
export interface AnswerForm {
  /** The event with which a stream begins. */
  readonly first?: object;
  piece(text: string): object | undefined;
  last(text: string, tally: Tally): readonly object[];
  whole(text: string, tally: Tally): object;
  /** Whether a stream ends with `[DONE]`. */
  readonly isMarked: boolean;
}

export interface FormOptions {
  readonly model: string;
  readonly includesUsage: boolean;
}

/** `/v1/chat/completions`. An answer that had to be a call is JSON, and becomes one. */
export function chatForm(options: FormOptions, isCall: boolean): AnswerForm {
  const id = `chatcmpl-${randomUUID()}`;
  const head = (object: string) => ({ id, object, created: now(), model: options.model });
  const chunk = (delta: object, finish: string | null = null) => ({
    ...head('chat.completion.chunk'),
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const finishOf = (tally: Tally) => (isCall && tally.end !== 'limit' ? 'tool_calls' : finishReason(tally));
  return {
    first: chunk({ role: 'assistant', content: null }),
    piece: (text) => (isCall ? undefined : chunk({ content: text })),
    last: (text, tally) => [
      ...(isCall ? [chunk({ tool_calls: [{ index: 0, ...callIn(text) }] })] : []),
      { ...chunk({}, finishOf(tally)), ...(options.includesUsage ? {} : timingsOf(tally)) },
      ...(options.includesUsage
        ? [{ ...head('chat.completion.chunk'), choices: [], ...usageOf(tally) }]
        : []),
    ],
    whole: (text, tally) => ({
      ...head('chat.completion'),
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            ...(isCall ? { content: null, tool_calls: [callIn(text)] } : { content: text }),
          },
          finish_reason: finishOf(tally),
        },
      ],
      ...usageOf(tally),
    }),
    isMarked: true,
  };
}

/** `/v1/completions`. */
export function completionForm(options: FormOptions): AnswerForm {
  const id = `cmpl-${randomUUID()}`;
  const part = (text: string, finish: string | null) => ({
    id,
    object: 'text_completion',
    created: now(),
    model: options.model,
    choices: [{ text, index: 0, logprobs: null, finish_reason: finish }],
  });
  return {
    piece: (text) => part(text, null),
    last: (_, tally) => [{ ...part('', finishReason(tally)), ...usageOf(tally) }],
    whole: (text, tally) => ({ ...part(text, finishReason(tally)), ...usageOf(tally) }),
    isMarked: true,
  };
}

/** `/infill`, in llama.cpp's own form. */
export function infillForm(options: FormOptions): AnswerForm {
  const end = (content: string, tally: Tally) => ({
    index: 0,
    content,
    stop: true,
    stop_type: tally.end,
    model: options.model,
    tokens_predicted: tally.completionTokens,
    tokens_evaluated: tally.promptTokens,
    tokens_cached: tally.promptTokens + tally.completionTokens,
    truncated: false,
    ...timingsOf(tally),
  });
  return {
    piece: (content) => ({ index: 0, content, stop: false }),
    last: (_, tally) => [end('', tally)],
    whole: end,
    isMarked: false,
  };
}

function now(): number {
  return Math.floor(Date.now() / 1_000);
}

function finishReason({ end }: Tally): string {
  return end === 'limit' ? 'length' : 'stop';
}

function usageOf(tally: Tally): object {
  const { promptTokens, cachedTokens, completionTokens } = tally;
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
  return { usage, ...timingsOf(tally) };
}

function timingsOf({ promptTokens, cachedTokens, completionTokens, promptTime, answerTime }: Tally): object {
  const read = promptTokens - cachedTokens;
  const timings = {
    cache_n: cachedTokens,
    prompt_n: read,
    prompt_ms: promptTime,
    prompt_per_second: (read / promptTime) * 1_000 || 0,
    predicted_n: completionTokens,
    predicted_ms: answerTime,
    predicted_per_second: (completionTokens / answerTime) * 1_000 || 0,
  };
  return { timings };
}

/** A call that was cut off keeps its text as arguments, so that whoever reads it sees that they are no JSON. */
function callIn(text: string): object {
  const value = tryJson(text);
  const { name, arguments: given } = isRecord(value) ? value : {};
  const cutName = /"name"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? '';
  const called =
    typeof name === 'string'
      ? { name, arguments: JSON.stringify(given ?? {}) }
      : { name: cutName, arguments: text };
  return { id: randomUUID().replaceAll('-', ''), type: 'function', function: called };
}
