import { toUSVString } from 'node:util';
import * as z from 'zod/mini';
import { cutText, withoutMiddle } from '../../protocol/base/text.ts';
import type { CallBounds, CallOutcome } from '../chat/daemonTools.ts';
import { tryStringify } from './toolList.ts';

/** Of the text, in characters, with the note on what is left out. */
const maxLength = 32_000;
const maxImages = 8;
/** Characters of base64, of all images of a result. */
const maxImageLength = 16 * 1024 * 1024;

const base64 = z.string().check(z.refine((data) => data !== '' && !/[^A-Za-z0-9+/=]/.test(data)));
const block = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: base64, mimeType: z.string() }),
  z.object({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.optional(z.string()),
    title: z.optional(z.string()),
  }),
  z.object({ type: z.literal('resource'), resource: z.object({ uri: z.string(), text: z.string() }) }),
  z.object({ type: z.literal('resource'), resource: z.object({ uri: z.string(), blob: z.string() }) }),
  z.object({ type: z.string() }),
]);

const result = z.object({
  content: z.optional(z.array(z.unknown())),
  structuredContent: z.optional(z.unknown()),
  isError: z.optional(z.boolean()),
});

/** Reads the texts, links, images and structured content of a server's answer, and nothing else. */
export function readToolResult(answer: unknown, bounds?: CallBounds): CallOutcome {
  const parsed = result.safeParse(answer);
  if (!parsed.success)
    return failedOutcome('The tool server sent an answer that is not the result of a tool.');
  const { content = [], structuredContent, isError = false } = parsed.data;
  const images: string[] = [];
  let imageLength = 0;
  const takeImage = (data: string) => {
    imageLength += data.length;
    if (images.length >= maxImages || imageLength > maxImageLength) return false;
    images.push(data);
    return true;
  };
  const texts = content.flatMap((value) => textOf(value, takeImage));
  const joined =
    texts.length === 0 && structuredContent !== undefined
      ? (tryStringify(structuredContent) ?? '[structured content that is nested too deep is left out]')
      : texts.join('\n');
  return {
    content: boundedContent(toUSVString(joined), bounds?.characters),
    isError,
    ...(images.length === 0 ? {} : { images }),
  };
}

export function failedOutcome(sentence: string): CallOutcome {
  return { content: boundedContent(sentence), isError: true };
}

function textOf(value: unknown, takeImage: (data: string) => boolean): readonly string[] {
  const parsed = block.safeParse(value);
  if (!parsed.success) return [];
  const part = parsed.data;
  if ('text' in part) return [part.text];
  if ('data' in part)
    return takeImage(part.data) ? [`[image, ${part.mimeType}]`] : ['[an image that is too much is left out]'];
  if ('uri' in part) {
    const name = part.title ?? part.name;
    return [name ? `${name}: ${part.uri}` : part.uri];
  }
  if ('resource' in part)
    return 'text' in part.resource
      ? [part.resource.text]
      : [`[the data of ${part.resource.uri} is left out: it is no text]`];
  return [`[${cutText(part.type, 64)} is left out: models here read text and images]`];
}

/** At most 32,000 characters, or as many as there is room for. */
function boundedContent(text: string, max = maxLength): string {
  return withoutMiddle(text, Math.min(max, maxLength));
}
