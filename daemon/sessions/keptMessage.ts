import type { Message } from '../../protocol/chat.ts';
import { maxLine } from './fileLines.ts';

/** An image that is larger is not kept, in bytes. */
const maxImage = 1024 * 1024;
/** What is kept of the words of a message that is too long for a line, in characters. */
const keptOfLong = 1024 * 1024;

/** The message as it is kept: a note stands in the place of a large image, and of what no line has room for. */
export function toKept(message: Message): Message {
  const kept = withoutLargeImages(message);
  return JSON.stringify(kept).length * 3 <= maxLine ||
    Buffer.byteLength(JSON.stringify(kept)) < maxLine - room
    ? kept
    : shortened(kept);
}

/** For what a line has beside its message. */
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

/** Without attachments, images and thinking, and with calls that have lost their arguments where these are long. */
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

/** Of one call, in characters. */
const keptArguments = 16 * 1024;
/** Of one message that is too long. */
const maxCalls = 128;

function withNotes(message: Message, notes: readonly string[]): Message {
  return notes.length === 0
    ? message
    : { ...message, content: [message.content, ...notes].join('\n\n').trimStart() };
}

/** Of what base64 stands for. */
function bytesOf(image: string): number {
  return Math.floor((image.length * 3) / 4) - (image.endsWith('==') ? 2 : image.endsWith('=') ? 1 : 0);
}
