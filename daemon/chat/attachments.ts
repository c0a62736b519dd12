import type { Attachment } from '../../protocol/messages/chat.ts';
import type { LeadingBlock } from './formatting.ts';

/** The element around all attachments of one message. */
export const attachmentsTag = 'attachments';

/** The attachments of one message as one block of context; undefined if there are none. */
export function toAttachmentsBlock(attachments: readonly Attachment[] | undefined): LeadingBlock | undefined {
  if (!attachments?.length) return undefined;
  const inside = attachments.map(toElement).join('\n');
  return { name: attachmentsTag, text: `<${attachmentsTag}>\n${inside}\n</${attachmentsTag}>` };
}

function toElement({ path, language, lines, text }: Attachment): string {
  const attributes = Object.entries({ path, language, lines }).flatMap(([name, value]) =>
    value === undefined ? [] : [` ${name}="${toAttribute(value)}"`],
  );
  // A closing tag inside of a file must not end the block: what follows it would look like the user's words.
  const inside = text.replace(/<\/(?=attachments?\b)/gi, '<\\/');
  return `<attachment${attributes.join('')}>\n${inside}\n</attachment>`;
}

function toAttribute(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/\s+/g, ' ');
}
