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
  const { start, end } = leadingUserMessages(messages);
  const taken = messages
    .slice(start, end)
    .map((message) => ({ message, ...takeLeadingBlocks(message.content, names) }));
  const newest = new Map<string, string>();
  for (const { name, text } of taken.flatMap(({ blocks }) => blocks)) {
    newest.delete(name);
    newest.set(name, text);
  }
  if (newest.size === 0) return messages;
  const users = taken.map(({ message, blocks, rest }) =>
    blocks.length === 0 ? message : { ...message, content: rest },
  );
  const said = users.filter(({ content, images }) => content.trim() !== '' || images?.length);
  return [
    { role: 'system', content: [...newest.values()].join('\n') },
    ...messages.slice(0, start),
    // A message of nothing but blocks has said all it had to; alone it stays, because a model answers a user.
    ...(said.length > 0 ? said : users.slice(-1)),
    ...messages.slice(end),
  ];
}

function leadingUserMessages(messages: readonly Message[]): { start: number; end: number } {
  const firstOther = messages.findIndex(({ role }) => role !== 'system');
  const start = firstOther === -1 ? messages.length : firstOther;
  const length = messages.slice(start).findIndex(({ role }) => role !== 'user');
  return { start, end: length === -1 ? messages.length : start + length };
}
