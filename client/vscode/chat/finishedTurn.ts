import type { ChatFollowupProvider } from 'vscode';
import { cutText } from '../../../protocol/base/text.ts';
import type { Message, Usage } from '../../../protocol/messages/chat.ts';
import { withRetryMark } from './prompt.ts';

/** The data of a finished turn of `@runner` in the editor's history. It is written to disk, so it is small. */
export interface TurnMetadata {
  readonly model: string;
  readonly usage?: Usage;
  /** Why the user may want to continue: the answer was cut off, the rounds of tools ended, or it failed. */
  readonly ended?: 'length' | 'rounds' | 'failed';
  /** The prompt of a failed turn, so that it can be asked again. */
  readonly prompt?: string;
  /** What was sent in place of the words that were typed: the text of a prompt that is kept under a name. */
  readonly sent?: string;
  /** For a turn with tools: all of its messages, in order. */
  readonly messages?: readonly Message[];
}

/** The most characters that are kept of one message. */
const maxMessageLength = 20_000;

/**
 * The messages of a turn with tools, for its metadata; without tools, the editor has the text itself. Unanswered calls
 * in the last message are left out, because they confuse models.
 */
export function toKept(messages: readonly Message[]): readonly Message[] | undefined {
  if (!messages.some(({ role }) => role === 'tool')) return undefined;
  return messages.map(({ images: _images, thinking: _thinking, toolCalls, ...message }, index) => ({
    ...message,
    ...(toolCalls && index < messages.length - 1 ? { toolCalls } : {}),
    content:
      message.content.length > maxMessageLength
        ? `${cutText(message.content, maxMessageLength)} (cut)`
        : message.content,
  }));
}

/** A longer text is not kept: later turns then have what was typed. */
export function isKeptWhole(sent: string | undefined): sent is string {
  return sent !== undefined && sent.length <= maxMessageLength;
}

/** The metadata of a result, which an older version may have written. */
export function readMetadata(value: unknown): TurnMetadata | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return 'model' in value && typeof value.model === 'string' ? (value as TurnMetadata) : undefined;
}

/**
 * Buttons below an answer that can be continued or asked again. A prompt that is sent again has the command of the
 * first one, which is the editor's default. One that continues must not have it, or the command's prompt would be sent
 * once more.
 */
export const followUps: ChatFollowupProvider = {
  provideFollowups(result) {
    const { ended, prompt } = readMetadata(result.metadata) ?? {};
    switch (ended) {
      case 'length':
        return [{ command: '', prompt: 'Go on from where you were cut.', label: 'Go on' }];
      case 'rounds':
        return [{ command: '', prompt: 'Go on with the tools.', label: 'Go on with the tools' }];
      case 'failed':
        return prompt === undefined ? [] : [{ prompt: withRetryMark(prompt), label: 'Try Again' }];
      default:
        return [];
    }
  },
};

/**
 * The line below a finished answer: the model, its speed, and how much of the window is used, where known.
 * `milliseconds` is the time from the first part of the answer to its end; 0 if it came at once.
 */
export function describeAnswer(model: string, usage: Usage, milliseconds: number): string {
  const { promptTokens, completionTokens, contextLength } = usage;
  const used = promptTokens + completionTokens;
  // The speed of a few tokens means nothing.
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
