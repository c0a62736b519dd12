import type { Usage } from '../../../protocol/messages/chat.ts';

/** How an answer came about. */
export interface AnswerFacts {
  readonly model: string;
  readonly usage: Usage;
  /** From the first part of the answer to its end, in ms; 0 if it came at once. */
  readonly milliseconds: number;
}

/** The line below a finished answer: the model, its speed, and how much of the window is used, where known. */
export function describeAnswer({ model, usage, milliseconds }: AnswerFacts): string {
  const { promptTokens, completionTokens, contextLength } = usage;
  const used = promptTokens + completionTokens;
  // A few tokens at once say nothing about the speed.
  const speed =
    completionTokens > 10 && milliseconds > 200 ? completionTokens / (milliseconds / 1000) : undefined;
  return [
    model,
    speed === undefined ? '' : `${speed < 10 ? speed.toFixed(1) : Math.round(speed)} tokens/s`,
    contextLength && used > 0
      ? `${Math.round((used / contextLength) * 100)} % of a window of ${contextLength.toLocaleString('en-US')} tokens`
      : '',
  ]
    .filter(Boolean)
    .join(' · ');
}
