import type { Tally } from './answers.ts';
import { batchSize, type LoadedModel } from './engineModel.ts';
import type { EvaluateOptions, NativeModelHandle, Sequence, Token } from './library.ts';
import { ApiError, type GenerationOptions } from './requests.ts';
import type { Task } from './tasks.ts';

/**
 * Refuses a prompt that does not fit. Nothing is cut off in silence.
 * @throws {ApiError} with both figures.
 */
export function requireFit(tokens: number, window: number): void {
  if (tokens < window) return;
  throw new ApiError(
    400,
    'exceed_context_size_error',
    `request (${tokens} tokens) exceeds the available context size (${window} tokens), try increasing it`,
    { n_prompt_tokens: tokens, n_ctx: window },
  );
}

/** Answers a prompt that fits. What the sequence has of it already is not evaluated again. */
export async function* generate(
  { prompt, body, stops = [], grammarState }: Task,
  { model, sequence, window }: LoadedModel,
  signal: AbortSignal,
): AsyncGenerator<string, Tally> {
  const asked = body.max_tokens ?? body.max_completion_tokens ?? body.n_predict ?? -1;
  const room = window - prompt.length;
  const limit = asked < 0 ? room : Math.min(asked, room);
  const begun = performance.now();
  const cachedTokens = limit === 0 ? 0 : await readPrompt(prompt, sequence, signal);
  const text = new AnswerText(model, prompt, [...[body.stop ?? []].flat(), ...stops]);
  let completionTokens = 0;
  let end: Tally['end'] = limit === 0 ? 'limit' : 'eos';
  let first = limit === 0 ? performance.now() : 0;
  const options = samplingOf(body, sequence, grammarState);
  if (limit > 0)
    for await (const token of sequence.evaluate(prompt.slice(sequence.nextTokenIndex), options)) {
      first ||= performance.now();
      signal.throwIfAborted();
      completionTokens += 1;
      const piece = text.push(token);
      if (piece !== '') yield piece;
      if (text.isStopped) end = 'word';
      else if (completionTokens === limit) end = 'limit';
      if (end !== 'eos') break;
    }
  const rest = text.end();
  if (rest !== '') yield rest;
  first ||= performance.now();
  const times = { promptTime: first - begun, answerTime: performance.now() - first };
  return { promptTokens: prompt.length, cachedTokens, completionTokens, end, ...times };
}

/** Evaluates all of a prompt but its last batch. Returns how much of it was in memory before. */
async function readPrompt(
  prompt: readonly Token[],
  sequence: Sequence,
  signal: AbortSignal,
): Promise<number> {
  await sequence.adaptStateToTokens(prompt.slice(0, -1), false);
  const cached = sequence.nextTokenIndex;
  while (prompt.length - sequence.nextTokenIndex > batchSize) {
    signal.throwIfAborted();
    const { nextTokenIndex: at } = sequence;
    await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(at, at + batchSize));
  }
  // Without it, a model whose memory slides or recurs would have to read everything again in the next turn.
  if (sequence.needsCheckpoints && sequence.nextTokenIndex > cached) await sequence.takeCheckpoint();
  signal.throwIfAborted();
  return cached;
}

/** What is not asked for is as in llama.cpp's server. */
function samplingOf(
  body: GenerationOptions,
  sequence: Sequence,
  grammarState: object | undefined,
): EvaluateOptions {
  const { repeat_last_n: last } = body;
  const penalties = {
    penalty: body.repeat_penalty ?? 1,
    presencePenalty: body.presence_penalty ?? 0,
    frequencyPenalty: body.frequency_penalty ?? 0,
  };
  const isNeutral = penalties.penalty === 1 && !penalties.presencePenalty && !penalties.frequencyPenalty;
  const considered = last == null ? 64 : last < 0 ? Number.POSITIVE_INFINITY : last;
  const punishTokens = () => (considered === 0 ? [] : sequence.contextTokens.slice(-considered));
  return {
    temperature: body.temperature ?? 0.8,
    topK: body.top_k ?? 40,
    topP: body.top_p ?? 0.95,
    minP: body.min_p ?? 0.05,
    // Each answer without a seed is another one.
    seed: typeof body.seed === 'number' && body.seed >= 0 ? body.seed : Math.floor(Math.random() * 2 ** 32),
    yieldEogToken: body.ignore_eos === true,
    ...(isNeutral ? {} : { repeatPenalty: { ...penalties, punishTokens } }),
    ...(grammarState ? { grammarEvaluationState: grammarState } : {}),
  };
}

/** More tokens than any character takes. */
const maxTokensOfCharacter = 8;

/** Makes text of tokens. It withholds half a character, and what may be the beginning of a text at which to stop. */
class AnswerText {
  readonly #stops: readonly string[];
  #before: readonly Token[];
  #pending: Token[] = [];
  #held = '';
  isStopped = false;

  constructor(
    private readonly model: Pick<NativeModelHandle, 'detokenize'>,
    prompt: readonly Token[],
    stops: readonly string[],
  ) {
    this.#before = prompt.slice(-8);
    this.#stops = stops.filter((stop) => stop !== '');
  }

  /** The text that is certain now. Special tokens are text too: who reads it finds thinking and calls by them. */
  push(token: Token): string {
    this.#pending.push(token);
    const text = this.model.detokenize(this.#pending, true, this.#before);
    if (text.endsWith('\u{FFFD}') && this.#pending.length < maxTokensOfCharacter) return '';
    this.#before = [...this.#before, ...this.#pending].slice(-8);
    this.#pending = [];
    return this.#release(this.#held + text);
  }

  /** What was withheld, if nothing follows. */
  end(): string {
    if (this.isStopped) return '';
    const rest = this.#pending.length > 0 ? this.model.detokenize(this.#pending, true, this.#before) : '';
    return this.#held + rest;
  }

  #release(text: string): string {
    const found = this.#stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    if (found.length > 0) {
      this.isStopped = true;
      return text.slice(0, Math.min(...found));
    }
    const held = Math.max(0, ...this.#stops.map((stop) => overlap(text, stop)));
    this.#held = text.slice(text.length - held);
    return text.slice(0, text.length - held);
  }
}

/** With how many characters a text ends that begin the other one. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--)
    if (text.endsWith(stop.slice(0, length))) return length;
  return 0;
}
