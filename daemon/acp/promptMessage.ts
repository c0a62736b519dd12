import type { ContentBlock, EmbeddedResourceResource } from '@agentclientprotocol/sdk';
import type { Attachment, Message } from '../../protocol/messages/chat.ts';
import { InvalidParamsError } from '../base/errors.ts';

/**
 * The user's message in a prompt. Attachments go into a field of their own, each with its address, and leave their name
 * in the text. No file is read: a link is text.
 * @throws {InvalidParamsError} if a block cannot be sent to a model.
 */
export function promptToMessage(prompt: readonly ContentBlock[]): Message {
  const parts = prompt.map(partOf).filter(({ isText, words }) => !isText || words !== '');
  const content = parts
    .map((part, index) => separatorBetween(parts[index - 1], part) + (part.words ?? ''))
    .join('')
    .trim();
  const attachments = parts.flatMap(({ attachment }) => attachment ?? []);
  const images = parts.flatMap(({ image }) => image ?? []);
  if (content === '' && images.length === 0) throw new InvalidParamsError('prompt', 'it is empty');
  return {
    role: 'user',
    content,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(images.length === 0 ? {} : { images }),
  };
}

/**
 * Two texts in a row are paragraphs: CodeCompanion sends a cancelled question again, before the next one. A link
 * touches no word beside it.
 */
function separatorBetween(before: Part | undefined, part: Part): string {
  const [end, start] = [before?.words?.at(-1) ?? '', part.words?.at(0) ?? ''];
  if (before?.isText && part.isText) return /\S/.test(end) && /\S/.test(start) ? '\n\n' : '';
  return /[\p{L}\p{N})]/u.test(end) && /[\p{L}\p{N}[]/u.test(start) ? ' ' : '';
}

interface Part {
  readonly words?: string;
  readonly isText?: true;
  readonly attachment?: Attachment;
  /** Base64. */
  readonly image?: string;
}

function partOf(block: ContentBlock, index: number): Part {
  const path = `prompt[${index}]`;
  switch (block.type) {
    case 'text':
      return { words: block.text, isText: true };
    case 'image':
      return { image: parseBase64(block.data, `${path}.data`) };
    case 'resource_link':
      return { words: linkTo(block.uri, block.name) };
    case 'resource':
      return resourcePart(block.resource, path);
    case 'audio':
      throw new InvalidParamsError(path, 'audio cannot be heard; send text, images or files');
  }
}

function resourcePart(resource: EmbeddedResourceResource, path: string): Part {
  const { uri, mimeType } = resource;
  const words = linkTo(uri, lastPart(uri));
  if ('text' in resource) {
    const { text } = resource;
    return { words, attachment: uri === '' ? { path: 'text', text } : { path: uri, text, uris: [uri] } };
  }
  if (mimeType?.startsWith('image/'))
    return { words, image: parseBase64(resource.blob, `${path}.resource.blob`) };
  throw new InvalidParamsError(
    `${path}.resource`,
    `${lastPart(uri)} is neither text nor an image; attach it as text`,
  );
}

function parseBase64(text: string, path: string): string {
  if (text === '' || /[^A-Za-z0-9+/=]/.test(text))
    throw new InvalidParamsError(path, 'it is not base64 (without a "data:" prefix)');
  return text;
}

function linkTo(uri: string, name: string): string {
  return `[${name}](${uri})`;
}

function lastPart(uri: string): string {
  return /([^/]+)\/?$/.exec(uri)?.[1] ?? uri;
}
