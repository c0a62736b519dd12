import type { ContentBlock } from '@agentclientprotocol/sdk';

/** The text in a fence that is longer than any in it, so that the editor shows it as it is and fetches no picture. */
export function fencedText(text: string): ContentBlock {
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return { type: 'text', text: `${fence}\n${text}\n${fence}` };
}

/** Of an image in base64, which carries its format in its first bytes. */
export function imageBlock(data: string): ContentBlock {
  return { type: 'image', data, mimeType: mimeTypeOf(data) };
}

/** The first bytes of files of these formats, in base64. */
const imageSignatures = { '/9j/': 'image/jpeg', R0lG: 'image/gif', UklG: 'image/webp' } as const;

function mimeTypeOf(image: string): string {
  return (
    Object.entries(imageSignatures).find(([signature]) => image.startsWith(signature))?.[1] ?? 'image/png'
  );
}
