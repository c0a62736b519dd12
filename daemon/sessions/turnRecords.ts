import { cutText } from '../../protocol/base/text.ts';
import type { ClearedParts, Message } from '../../protocol/messages/chat.ts';
import type { ConversationSettings, SessionMessage } from '../../protocol/messages/sessions.ts';
import { markOf, recordToLine, type SessionState, settingsToLine, stateAfter } from './records.ts';
import { maxLine } from './sessionFile.ts';

/** What a turn asks of the model. */
export interface TurnPrompt {
  readonly model: string;
  /** All messages that were sent, with the history. */
  readonly messages: readonly Message[];
  readonly settings?: ConversationSettings;
}

/** What came of it. */
export interface ReplyRecord {
  /** All messages of the answer, in order. */
  readonly answer: readonly Message[];
  readonly partial?: 'cancelled' | 'failed';
  /** What is removed from the prompts by now. */
  readonly cleared?: ClearedParts | undefined;
}

export interface RecordOptions {
  /** The state before. */
  readonly state: SessionState;
  /** ISO 8601. */
  readonly at: string;
  /** Removes secrets from a message. */
  readonly redact: <T extends object>(value: T) => T;
}

/** What is added to a file: the lines of messages, and the state after them. */
export interface Addition {
  readonly lines: string;
  readonly state: SessionState;
}

/** The messages of a prompt that are not kept yet. */
export function promptToAddition(
  { model, messages: sent, settings = {} }: TurnPrompt,
  { state, at, redact }: RecordOptions,
): Addition {
  const kept = addedBy(sent, state).map((message) => redact(toKept(message)));
  const known = new Set(state.unanswered);
  const messages = kept
    .filter((message) => message.role !== 'user' || !known.has(markOf(message)))
    .map((message): SessionMessage => ({ ...message, at }));
  const after = { ...stateAfter(state, messages), model };
  const { line, mark } = settingsToLine(redact(settings));
  const isKnown = state.settings === mark || (!state.settings && Object.keys(settings).length === 0);
  if (isKnown || Buffer.byteLength(line) > maxLine) return toAddition(messages, after);
  const { lines } = toAddition(messages, after);
  return { lines: line + lines, state: { ...after, settings: mark } };
}

export function replyToAddition(
  model: string,
  { answer, partial, cleared }: ReplyRecord,
  { state, at, redact }: RecordOptions,
): Addition {
  const said = answer.filter(saysSomething);
  const last = said.findLast(({ role }) => role === 'assistant');
  const messages = said.map(
    (message): SessionMessage => ({
      ...redact(toKept(message)),
      at,
      ...(message.role === 'assistant' ? { model } : {}),
      ...(message === last && partial ? { partial } : {}),
    }),
  );
  const { lines, state: after } = toAddition(messages, stateAfter(state, messages));
  return { lines: lines + (cleared ? recordToLine({ type: 'cleared', ...cleared }) : ''), state: after };
}

export function saysSomething({ role, content, thinking, toolCalls }: Message): boolean {
  return role !== 'assistant' || content !== '' || Boolean(thinking) || Boolean(toolCalls?.length);
}

/** In a new conversation everything that was sent, otherwise what follows the last answer. */
function addedBy(request: readonly Message[], { turns, answered = [] }: SessionState): readonly Message[] {
  if (turns === 0) return request;
  const known = new Set(answered);
  const after = request.findLastIndex(({ role }) => role === 'assistant') + 1;
  return request
    .slice(after)
    .filter(
      ({ role, toolCallId }) => role !== 'system' && !(toolCallId !== undefined && known.has(toolCallId)),
    );
}

function toAddition(messages: readonly SessionMessage[], state: SessionState): Addition {
  return { lines: messages.map(messageToLine).join(''), state };
}

export function messageToLine(message: SessionMessage): string {
  const line = recordToLine({ type: 'message', ...message });
  if (Buffer.byteLength(line) <= maxLine) return line;
  return recordToLine({
    type: 'message',
    role: message.role,
    content: '[This message was too long to be kept.]',
  });
}

/** A larger image is not kept, in bytes. */
const maxImage = 1024 * 1024;
/** How much text is kept of a message that is too long for a line, in characters. */
const keptOfLong = 1024 * 1024;

/** The form of a message that is kept. A note replaces a large image, and everything that a line has no room for. */
export function toKept(message: Message): Message {
  const kept = withoutLargeImages(message);
  return Buffer.byteLength(JSON.stringify(kept)) < maxLine - room ? kept : shortened(kept);
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
    ...withNotes({ ...message, content: cutText(content, keptOfLong) }, notes),
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
