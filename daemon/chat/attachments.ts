import type { Attachment } from '../../protocol/chat.ts';
import type { LeadingBlock } from './formatting.ts';

/** The element around all that one message has attached. */
export const attachmentsTag = 'attachments';

/** What a client attached to one message, as one block of context; undefined where there is nothing. */
export function toAttachmentsBlock(attachments: readonly Attachment[] | undefined): LeadingBlock | undefined {
  if (!attachments?.length) return undefined;
  const inside = attachments.map(toElement).join('\n');
  return { name: attachmentsTag, text: `<${attachmentsTag}>\n${inside}\n</${attachmentsTag}>` };
}

function toElement({ path, language, lines, text }: Attachment): string {
  const attributes = Object.entries({ path, language, lines }).flatMap(([name, value]) =>
    value === undefined ? [] : [` ${name}="${toAttribute(value)}"`],
  );
  // A file that holds the end of a block must not end it: what follows would look like the user's words.
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
