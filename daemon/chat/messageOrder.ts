import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { Message } from '../../protocol/messages/chat.ts';

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
