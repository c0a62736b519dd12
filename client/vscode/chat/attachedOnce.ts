import type { Attachment } from '../../../protocol/chat.ts';

/**
 * Each place once: the editor adds the selection of the open file by itself, and the user may have attached the same
 * lines. Twice, they would fill a small window for nothing.
 */
export function attachedOnce(attachments: readonly Attachment[]): readonly Attachment[] {
  return [...new Map(attachments.map((one) => [`${one.lines} ${one.path}\n${one.text}`, one])).values()];
}
