import type { Message, Usage } from '../../../protocol/chat.ts';

/** What a finished turn of `@runner` leaves in the editor's history, which is written to disk: small and plain. */
export interface TurnMetadata {
  readonly model: string;
  readonly usage?: Usage;
  /** Why one may want to go on: it was cut, the rounds of tools ended, or it failed. */
  readonly ended?: 'length' | 'rounds' | 'failed';
  /** What was asked, where it failed: it may be asked again. */
  readonly prompt?: string;
  /** With tools: all that was said and answered in the turn, in its order. */
  readonly messages?: readonly Message[];
}

/** Characters of one message that are kept. */
const most = 20_000;

/**
 * What is kept of a turn with tools; without tools the editor has the text itself. Calls that nobody answered, in its
 * last message, are left out: models go astray after them.
 */
export function toKept(messages: readonly Message[]): readonly Message[] | undefined {
  if (!messages.some(({ role }) => role === 'tool')) return undefined;
  return messages.map(({ images: _images, thinking: _thinking, toolCalls, ...message }, index) => ({
    ...message,
    ...(toolCalls && index < messages.length - 1 ? { toolCalls } : {}),
    content: message.content.length > most ? `${message.content.slice(0, most)} (cut)` : message.content,
  }));
}

/** The metadata of a result, which an older version may have written. */
export function readMetadata(value: unknown): TurnMetadata | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return 'model' in value && typeof value.model === 'string' ? (value as TurnMetadata) : undefined;
}
