import { withoutUndefined } from '../../protocol/base/json.ts';
import type { Attachment, Message } from '../../protocol/messages/chat.ts';
import { type LeadingBlock, takeLeadingBlocks } from './formatting.ts';

/**
 * Puts the context of a conversation where it belongs. The context of the leading user messages becomes a system
 * message after those that lead. The attachments of a later message are put before its words.
 *
 * The leading user messages come after any system messages and before the first answer. For each element name only one
 * block stays: the last one of the newest message. Attachments are context. So are blocks of `names` at the very start
 * of the text, where an editor puts its own; a client that knows what was typed passes no names. The user's own text
 * never becomes a system message.
 */
export function placeContext(messages: readonly Message[], names: ReadonlySet<string>): readonly Message[] {
  const { start, end } = leadingUserMessages(messages);
  const leading = messages.slice(start, end).map((message) => splitMessage(message, names));
  const newest = new Map<string, string>();
  for (const { name, text } of leading.flatMap(({ blocks }) => blocks)) {
    newest.delete(name);
    newest.set(name, text);
  }
  const before = messages.slice(0, start);
  const after = messages.slice(end).map(withAttachments);
  if (newest.size === 0) return [...before, ...leading.map(({ message }) => message), ...after];
  const users = leading.map(({ message }) => message);
  const said = users.filter(({ content, images }) => content.trim() !== '' || images?.length);
  return [
    ...before,
    { role: 'system', content: [...newest.values()].join('\n') },
    // A message that held only context is not needed any more. But if there is no other, one stays, because a model
    // needs a user message to answer.
    ...(said.length > 0 ? said : users.slice(-1)),
    ...after,
  ];
}

function leadingUserMessages(messages: readonly Message[]): { start: number; end: number } {
  const firstOther = messages.findIndex(({ role }) => role !== 'system');
  const start = firstOther === -1 ? messages.length : firstOther;
  const length = messages.slice(start).findIndex(({ role }) => role !== 'user');
  return { start, end: length === -1 ? messages.length : start + length };
}

interface SplitMessage {
  readonly blocks: readonly LeadingBlock[];
  /** What the user said. */
  readonly message: Message;
}

/** The texts of the elements that are the context of a message, as they are sent. */
export function contextBlocks(message: Message, names: ReadonlySet<string>): readonly string[] {
  return message.role === 'user' ? splitMessage(message, names).blocks.map(({ text }) => text) : [];
}

function splitMessage({ attachments, ...message }: Message, names: ReadonlySet<string>): SplitMessage {
  const attached = toAttachmentsBlock(attachments);
  // The attachments already make up the block of that name, so another one in the text is the user's own.
  const sought = attached ? new Set([...names].filter((name) => name !== attachmentsTag)) : names;
  const { blocks, rest } = takeLeadingBlocks(message.content, sought);
  return { blocks: attached ? [attached, ...blocks] : blocks, message: { ...message, content: rest } };
}

function withAttachments({ attachments, ...message }: Message): Message {
  const attached = toAttachmentsBlock(attachments);
  if (!attached) return message;
  return { ...message, content: [attached.text, message.content].filter(Boolean).join('\n\n') };
}

/** The element around all attachments of one message. */
const attachmentsTag = 'attachments';

/** The attachments of one message as one block of context; undefined if there are none. */
function toAttachmentsBlock(attachments: readonly Attachment[] | undefined): LeadingBlock | undefined {
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

/**
 * The messages of a conversation in the order that strict chat templates take: at most one system message, which comes
 * first; pictures only in messages of the user; no empty answer; and no two messages of the user, or two answers, side
 * by side. Mistral's and Devstral's templates count neither calls nor results there, so that an answer in words stands
 * between a round of tools and the user. Every server gets them so, because no server says how strict its template is.
 */
export function inStrictOrder(messages: readonly Message[]): readonly Message[] {
  const start = messages.findIndex(({ role }) => role !== 'system');
  const leading = messages.slice(0, start === -1 ? messages.length : start);
  const rest = start === -1 ? [] : withoutToolPictures(withoutSystem(messages.slice(start)));
  const all = joined(joined(rest).filter((message) => !isEmptyAnswer(message)));
  const ordered = all.flatMap((message, at) =>
    message.role === 'user' && isOfRound(all[at - 1])
      ? [answer('The answer was interrupted.'), message]
      : [message],
  );
  return leading.length === 0 ? ordered : [leading.reduce(join), ...ordered];
}

/** What a system message in the middle says stands in front of the next words of the user. */
function withoutSystem(messages: readonly Message[]): readonly Message[] {
  let held: Message | undefined;
  const rest = messages.flatMap((message) => {
    const { role, content } = message;
    if (role === 'system') held = { role: 'user', content: paragraphs(held?.content, content) };
    if (role !== 'user') return role === 'system' ? [] : [message];
    const whole = held ? join(held, message) : message;
    held = undefined;
    return [whole];
  });
  return held ? [...rest, held] : rest;
}

/**
 * Servers refuse pictures in the result of a tool, or do not show them to the model. The user shows them instead, after
 * the last result of the round.
 */
function withoutToolPictures(messages: readonly Message[]): readonly Message[] {
  let pictures: readonly string[] = [];
  return messages.flatMap((message, at) => {
    if (message.role !== 'tool') return [message];
    const { images = [], ...result } = message;
    pictures = [...pictures, ...images];
    if (pictures.length === 0 || messages[at + 1]?.role === 'tool') return [result];
    const content = 'The pictures in the results of the tools:';
    const shown: Message = { role: 'user', content, images: pictures };
    pictures = [];
    return [result, answer('The tools returned pictures.'), shown];
  });
}

/** An answer that called tools is followed by their results, so nothing is added to it. */
function joined(messages: readonly Message[]): readonly Message[] {
  const all: Message[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (last?.role === message.role && !isOfRound(last)) all[all.length - 1] = join(last, message);
    else all.push(message);
  }
  return all;
}

/** Whether a message is a call or a result. */
function isOfRound(message: Message | undefined): boolean {
  return message?.role === 'tool' || (message?.toolCalls?.length ?? 0) > 0;
}

function isEmptyAnswer(message: Message): boolean {
  return message.role === 'assistant' && message.content.trim() === '' && !isOfRound(message);
}

function answer(content: string): Message {
  return { role: 'assistant', content };
}

/** What both have counts once: a prompt that was never answered, because its process ended, is often asked again. */
function join(one: Message, two: Message): Message {
  const images = [...new Set([...(one.images ?? []), ...(two.images ?? [])])];
  return withoutUndefined<Message>({
    ...one,
    ...two,
    content: paragraphs(one.content, two.content),
    thinking: one.thinking || two.thinking ? paragraphs(one.thinking, two.thinking) : undefined,
    images: images.length === 0 ? undefined : images,
  });
}

function paragraphs(...texts: readonly (string | undefined)[]): string {
  return [...new Set(texts)].filter(Boolean).join('\n\n');
}
