import type { ChatResult } from '../../protocol/chat.ts';
import { withoutUndefined } from '../../protocol/withoutUndefined.ts';

/** What one answer took. */
export interface AnswerStats {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** From the question to the first piece: to load the model and to read the prompt. */
  readonly firstPieceSeconds: number;
  /** From the first piece to the end. */
  readonly answerSeconds: number;
  /** Absent of what came at once. */
  readonly tokensPerSecond?: number;
  /** Tokens of the window, where that is known. */
  readonly contextLength?: number;
}

/** Measures one answer, in ms of a clock. */
export class AnswerClock {
  readonly #now: () => number;
  readonly #asked: number;
  #first: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
    this.#asked = now();
  }

  /** A piece has come. */
  note(): void {
    this.#first ??= this.#now();
  }

  stats({ usage }: ChatResult): AnswerStats {
    const end = this.#now();
    const first = this.#first ?? end;
    const milliseconds = end - first;
    const { completionTokens } = usage;
    const hasSpeed = milliseconds > 50 && completionTokens > 1;
    return withoutUndefined({
      ...usage,
      firstPieceSeconds: rounded((first - this.#asked) / 1000),
      answerSeconds: rounded(milliseconds / 1000),
      tokensPerSecond: hasSpeed ? rounded(completionTokens / (milliseconds / 1000)) : undefined,
    });
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** One line on an answer, with the model that gave it. */
export function describeUsage(
  model: string,
  { finishReason }: Pick<ChatResult, 'finishReason'>,
  { completionTokens, promptTokens, contextLength, tokensPerSecond }: AnswerStats,
): string {
  if (finishReason === 'cancelled') return `${model} · cancelled`;
  const parts = [model, completionTokens === 1 ? '1 token' : `${completionTokens} tokens`];
  if (tokensPerSecond !== undefined) parts.push(`${tokensPerSecond.toFixed(1)} tokens/s`);
  if (contextLength !== undefined)
    parts.push(`context ${promptTokens + completionTokens} of ${contextLength}`);
  if (finishReason === 'length') parts.push('cut at the limit (length)');
  if (finishReason === 'toolLimit') parts.push('no more rounds of tools');
  return parts.join(' · ');
}

/** All that is known of an answer, a line each. */
export function describeStats(model: string, stats: AnswerStats): string {
  const { promptTokens, completionTokens, contextLength, firstPieceSeconds, answerSeconds } = stats;
  const used = promptTokens + completionTokens;
  const speed = stats.tokensPerSecond === undefined ? '' : `, ${stats.tokensPerSecond.toFixed(1)} a second`;
  const share = contextLength ? ` of ${contextLength} (${Math.round((100 * used) / contextLength)} %)` : '';
  return [
    `model         ${model}`,
    `first piece   after ${firstPieceSeconds.toFixed(1)} s, with loading the model and reading the prompt`,
    `answer        ${completionTokens} tokens in ${answerSeconds.toFixed(1)} s${speed}`,
    `prompt        ${promptTokens} tokens`,
    `window        ${used} tokens${share}`,
  ].join('\n');
}
