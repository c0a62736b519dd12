import type { Message, Usage } from '../../../protocol/messages/chat.ts';

/** What a finished turn of `@runner` leaves in the editor's history, which is written to disk: small and plain. */
export interface TurnMetadata {
  readonly model: string;
  readonly usage?: Usage;
  /** Why the user may want to continue: the answer was cut off, the rounds of tools ended, or it failed. */
  readonly ended?: 'length' | 'rounds' | 'failed';
  /** The prompt of a failed turn, so that it can be asked again. */
  readonly prompt?: string;
  /** For a turn with tools: all of its messages, in order. */
  readonly messages?: readonly Message[];
}

/** The characters of one message that are kept. */
const most = 20_000;

/**
 * What is kept of a turn with tools; without tools, the editor has the text itself. Unanswered calls in the last
 * message are left out, because they confuse models.
 */
export function toKept(messages: readonly Message[]): readonly Message[] | undefined {
  if (!messages.some(({ role }) => role === 'tool')) return undefined;
  return messages.map(({ images: _images, thinking: _thinking, toolCalls, ...message }, index) => ({
    ...message,
    ...(toolCalls && index < messages.length - 1 ? { toolCalls } : {}),
    content: message.content.length > most ? `${message.content.slice(0, most)} (cut)` : message.content,
  }));
}

/** The metadata of a result, perhaps written by an older version. */
export function readMetadata(value: unknown): TurnMetadata | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return 'model' in value && typeof value.model === 'string' ? (value as TurnMetadata) : undefined;
}
