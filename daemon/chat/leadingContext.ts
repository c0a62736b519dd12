import type { Message } from '../../protocol/chat.ts';
import { takeLeadingBlocks } from '../stream/stream.ts';

/**
 * Moves the context blocks that an editor puts before the user's words into one system message at index 0.
 *
 * Blocks are taken only from the leading user messages (after any system message, before the first assistant or tool
 * message) and only from their very start; one stays for each element name, the newest. The user's own text never
 * becomes a system message. Without blocks the messages are returned as they are.
 */
export function moveLeadingContext(
  messages: readonly Message[],
  names: ReadonlySet<string>,
): readonly Message[] {
  const newest = new Map<string, string>();
  const { start, end } = leadingUserMessages(messages);
  const rest = messages.map((message, index) => {
    if (index < start || index >= end) return message;
    const taken = takeLeadingBlocks(message.content, names);
    for (const block of taken.blocks) {
      newest.delete(block.name);
      newest.set(block.name, block.text);
    }
    return taken.blocks.length === 0 ? message : { ...message, content: taken.rest };
  });
  if (newest.size === 0) return messages;
  return [{ role: 'system', content: [...newest.values()].join('\n') }, ...rest];
}

function leadingUserMessages(messages: readonly Message[]): { start: number; end: number } {
  const firstOther = messages.findIndex(({ role }) => role !== 'system');
  const start = firstOther === -1 ? messages.length : firstOther;
  const length = messages.slice(start).findIndex(({ role }) => role !== 'user');
  return { start, end: length === -1 ? messages.length : start + length };
}
