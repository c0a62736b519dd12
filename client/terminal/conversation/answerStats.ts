import { withoutUndefined } from '../../../protocol/base/json.ts';
import { count, showLine } from '../../../protocol/base/text.ts';
import type { AgentResult, ChatDelta, ChatResult } from '../../../protocol/messages/chat.ts';

/** What one answer cost in tokens and time. */
export interface AnswerStats {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** From the prompt to the first piece, with loading the model and reading the prompt. */
  readonly firstPieceSeconds: number;
  /** From the first piece to the end, without the time that tools took. */
  readonly answerSeconds: number;
  /** Absent if the answer came at once, or the time cannot be measured. */
  readonly tokensPerSecond?: number;
  /** Tokens of the context window, if known. */
  readonly contextLength?: number;
  /** How many of them are in use. Absent for an answer with tool calls, where it is not known. */
  readonly windowTokens?: number;
}

/** Measures one answer, in ms. It pauses while tools run and while a person is asked about them. */
export class AnswerClock {
  readonly #now: () => number;
  readonly #asked: number;
  #first: number | undefined;
  /** The time since which the model writes. */
  #writingSince: number | undefined;
  #written = 0;
  /** False if a round began with a call: how long that was written is not known. */
  #isAllMeasured = true;
  #isRoundMeasured = false;

  constructor(now: () => number) {
    this.#now = now;
    this.#asked = now();
  }

  /** Called for each piece. */
  note({ kind }: Pick<ChatDelta, 'kind'>): void {
    if (kind === 'notice') return;
    if (kind === 'toolResult') {
      this.#isRoundMeasured = false;
      return;
    }
    const isCall = kind === 'toolCall';
    if (isCall && !this.#isRoundMeasured) this.#isAllMeasured = false;
    if (isCall === (this.#writingSince === undefined) && this.#first !== undefined) return;
    const now = this.#now();
    this.#first ??= now;
    if (isCall) this.#pause(now);
    else this.#writingSince = now;
    this.#isRoundMeasured = !isCall || this.#isRoundMeasured;
  }

  #pause(now: number): void {
    if (this.#writingSince !== undefined) this.#written += now - this.#writingSince;
    this.#writingSince = undefined;
  }

  stats({ usage, messages = [] }: Pick<ChatResult, 'usage' | 'messages'>): AnswerStats {
    const end = this.#now();
    this.#pause(end);
    const { promptTokens, completionTokens } = usage;
    const hasSpeed = this.#isAllMeasured && this.#written > 50 && completionTokens > 1;
    // With calls, the prompt tokens are those of the last round, and the answer tokens are a sum.
    const hasCalls = messages.some(({ toolCalls = [] }) => toolCalls.length > 0);
    return withoutUndefined({
      ...usage,
      firstPieceSeconds: rounded(((this.#first ?? end) - this.#asked) / 1000),
      answerSeconds: rounded(this.#written / 1000),
      tokensPerSecond: hasSpeed ? rounded(completionTokens / (this.#written / 1000)) : undefined,
      windowTokens: hasCalls ? undefined : promptTokens + completionTokens,
    });
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** One line about an answer, with its model. */
export function describeUsage(
  model: string,
  { finishReason, agent }: Pick<ChatResult, 'finishReason' | 'agent'>,
  { promptTokens, completionTokens, contextLength, windowTokens, tokensPerSecond }: AnswerStats,
): string {
  const did = agent ? describeWork(agent) : '';
  const work = did === '' ? [] : [did];
  if (finishReason === 'cancelled') return [model, ...work, 'cancelled'].join(' · ');
  const parts = [model, ...work, completionTokens === 1 ? '1 token' : `${completionTokens} tokens`];
  if (tokensPerSecond !== undefined) parts.push(`${tokensPerSecond.toFixed(1)} tokens/s`);
  if (contextLength !== undefined && windowTokens !== undefined)
    parts.push(`context ${windowTokens} of ${contextLength}`);
  // After calls, the last prompt says how full the window is.
  else if (contextLength !== undefined && did !== '')
    parts.push(`${thousands(promptTokens)} of ${thousands(contextLength)}`);
  if (finishReason === 'length') parts.push('cut at the limit (length)');
  if (finishReason === 'toolLimit') parts.push('no more rounds of tools');
  if (finishReason === 'toolLoop') parts.push('stopped: the same calls again and again');
  return parts.join(' · ');
}

/** Such as `3 edits in 2 files · check test: exit 0 · 14 rounds`; empty after an answer without calls. */
export function describeWork({ rounds, edits, checks }: AgentResult): string {
  const files = new Set(edits.map(({ path }) => path)).size;
  const last = new Map(checks.map((check) => [check.name, check]));
  const parts = [
    ...(edits.length === 0 ? [] : [`${count(edits.length, 'edit')} in ${count(files, 'file')}`]),
    ...[...last.values()].map(
      ({ name, exitCode }) =>
        `check ${showLine(name)}: ${exitCode === null ? 'did not exit' : `exit ${exitCode}`}`,
    ),
    ...(rounds > 1 ? [count(rounds, 'round')] : []),
  ];
  return parts.join(' · ');
}

/** Such as `5.1k`. */
function thousands(tokens: number): string {
  return tokens < 1_024 ? `${tokens}` : `${(tokens / 1_024).toFixed(1).replace(/\.0$/, '')}k`;
}

/** Everything about an answer, one fact a line. */
export function describeStats(model: string, stats: AnswerStats): string {
  const { promptTokens, completionTokens, firstPieceSeconds, answerSeconds } = stats;
  const speed = stats.tokensPerSecond === undefined ? '' : `, ${stats.tokensPerSecond.toFixed(1)} a second`;
  const beginning = [
    `model         ${model}`,
    `first piece   after ${firstPieceSeconds.toFixed(1)} s, with loading the model and reading the prompt`,
  ];
  // A runner does not count a cancelled answer, and some runners never count.
  if (promptTokens + completionTokens === 0)
    return [...beginning, `answer        ${answerSeconds.toFixed(1)} s; its tokens were not counted`].join(
      '\n',
    );
  return [
    ...beginning,
    `answer        ${completionTokens} tokens in ${answerSeconds.toFixed(1)} s${speed}`,
    `prompt        ${promptTokens} tokens`,
    ...describeWindow(stats),
  ].join('\n');
}

function describeWindow({ windowTokens, contextLength }: AnswerStats): readonly string[] {
  if (windowTokens === undefined) return [];
  const share = contextLength
    ? ` of ${contextLength} (${Math.round((100 * windowTokens) / contextLength)} %)`
    : '';
  return [`window        ${windowTokens} tokens${share}`];
}
