import type { Message } from '../../protocol/messages/chat.ts';
import { maxLine } from './fileLines.ts';

/** A larger image is not kept, in bytes. */
const maxImage = 1024 * 1024;
/** How much text is kept of a message that is too long for a line, in characters. */
const keptOfLong = 1024 * 1024;

/** The form of a message that is kept. A note replaces a large image, and everything that a line has no room for. */
export function toKept(message: Message): Message {
  const kept = withoutLargeImages(message);
  return JSON.stringify(kept).length * 3 <= maxLine ||
    Buffer.byteLength(JSON.stringify(kept)) < maxLine - room
    ? kept
    : shortened(kept);
}

/** The room for everything in a line besides its message, in bytes. */
const room = 16 * 1024;

function withoutLargeImages({ images, ...message }: Message): Message {
  if (!images) return message;
  const small = images.filter((image) => bytesOf(image) <= maxImage);
  const notes = images
    .filter((image) => bytesOf(image) > maxImage)
    .map(
      (image) => `[An image of ${(bytesOf(image) / 1024 / 1024).toFixed(1)} MB was here. It is not kept.]`,
    );
  return { ...withNotes(message, notes), ...(small.length === 0 ? {} : { images: small }) };
}

/** A message without attachments, images and thinking. Calls with long arguments lose them. */
function shortened({ content, attachments, images, thinking: _, toolCalls, ...message }: Message): Message {
  const notes = [
    ...(content.length > keptOfLong ? ['[The rest of this message was too long to be kept.]'] : []),
    ...(attachments?.length || images?.length ? ['[What was attached was too large to be kept.]'] : []),
  ];
  const calls = toolCalls?.map((call) =>
    JSON.stringify(call.arguments).length > keptArguments ? { ...call, arguments: {} } : call,
  );
  return {
    ...withNotes(
      { ...message, content: content.slice(0, keptOfLong).replace(/[\ud800-\udbff]$/, '') },
      notes,
    ),
    ...(calls ? { toolCalls: calls.slice(0, maxCalls) } : {}),
  };
}

/** The most characters of a call's arguments. */
const keptArguments = 16 * 1024;
/** The most calls of a message that is too long. */
const maxCalls = 128;

function withNotes(message: Message, notes: readonly string[]): Message {
  return notes.length === 0
    ? message
    : { ...message, content: [message.content, ...notes].join('\n\n').trimStart() };
}

/** The number of bytes that the base64 text encodes. */
function bytesOf(image: string): number {
  return Math.floor((image.length * 3) / 4) - (image.endsWith('==') ? 2 : image.endsWith('=') ? 1 : 0);
}
