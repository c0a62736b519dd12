import { cutText } from '../../../protocol/base/text.ts';
import type { Attachment } from '../../../protocol/messages/chat.ts';

/** At most this many characters of an attached file are sent, and this many names of a folder. */
const maxReference = 100_000;
const maxNames = 500;

export function toAttachment(path: string, text: string): Attachment {
  return { path, text: text.length > maxReference ? `${cutText(text, maxReference)}\n(cut)` : text };
}

/** The editor opens many files even though they are not text. */
export function isBinary(text: string): boolean {
  return text.slice(0, 8192).includes('\0');
}

/** Names of a folder, one a line. */
export function listed(names: readonly string[]): string {
  const more = names.length > maxNames ? [`(${names.length - maxNames} more)`] : [];
  return [...names.toSorted().slice(0, maxNames), ...more].join('\n');
}
