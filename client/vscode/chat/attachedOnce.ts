import type { Attachment } from '../../../protocol/messages/chat.ts';

/**
 * Each place once: the editor adds the selection of the open file by itself, and the user may have attached the same
 * lines. Twice, they would fill a small window for nothing. What the user attached counts.
 */
export function attachedOnce(attachments: readonly Attachment[]): readonly Attachment[] {
  const named = attachments.filter(({ automatic }) => !automatic);
  const keyed = [...attachments, ...named].map(
    (one) => [`${one.lines} ${one.path}\n${one.text}`, one] as const,
  );
  return [...new Map(keyed).values()];
}
