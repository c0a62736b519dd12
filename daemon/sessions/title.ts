import type { Message } from '../../protocol/messages/chat.ts';

/** The most UTF-16 units of a title that nobody has set. */
const maxDerived = 60;

/** The first line of the first prompt that has any words. No character is cut in half. */
export function titleOf(messages: readonly Message[]): string | undefined {
  for (const { role, content } of messages) {
    const line = role === 'user' ? oneLine(content.trimStart().split(/[\r\n]/, 1)[0] ?? '') : '';
    if (line !== '') return cut(line);
  }
  return undefined;
}

/** Removes what would break the line or control a terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
}

function cut(line: string): string {
  const end = /[\ud800-\udbff]/.test(line.charAt(maxDerived - 1)) ? maxDerived - 1 : maxDerived;
  return line.length <= maxDerived ? line : line.slice(0, end).trimEnd();
}
