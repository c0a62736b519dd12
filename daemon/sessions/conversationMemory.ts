import type { Message } from '../../protocol/messages/chat.ts';
import { RunnerError } from '../base/errors.ts';

/** Of one conversation, in characters, with attachments and images. */
const maxConversation = 64 * 1024 * 1024;
/** Of all conversations. */
const maxAll = 4 * maxConversation;

/**
 * The messages of the conversations of this process, as the models have read them: of one without a file everything,
 * of others also what no file keeps, such as large images.
 */
export class ConversationMemory {
  // In the order of their last use.
  readonly #conversations = new Map<
    string,
    { readonly messages: readonly Message[]; readonly size: number }
  >();
  readonly #onDidDrop: (id: string) => void;
  #size = 0;

  /** `onDidDrop` is called for a conversation that has no room any more, because it was used longest ago. */
  constructor(onDidDrop: (id: string) => void) {
    this.#onDidDrop = onDidDrop;
  }

  get(id: string): readonly Message[] | undefined {
    return this.#conversations.get(id)?.messages;
  }

  set(id: string, messages: readonly Message[]): void {
    this.forget(id);
    const size = sizeOf(messages);
    this.#conversations.set(id, { messages, size });
    this.#size += size;
    for (const oldest of this.#conversations.keys()) {
      if (this.#size <= maxAll) break;
      this.forget(oldest);
      this.#onDidDrop(oldest);
    }
  }

  forget(id: string): void {
    this.#size -= this.#conversations.get(id)?.size ?? 0;
    this.#conversations.delete(id);
  }
}

/**
 * The messages to send for a turn of which the client sends only what is new: the kept ones, and the new ones behind
 * them. A system message among the new ones takes the place of the kept one, and an empty one removes it. Calls that
 * nothing answers are left out, because servers refuse them.
 * @throws {RunnerError} if they are too long to be held, since nothing is dropped in silence.
 */
export function withHistory(
  kept: readonly Message[],
  messages: readonly Message[],
  replacesLastTurn: boolean,
): readonly Message[] {
  const isSystem = ({ role }: Message) => role === 'system';
  const system = messages.some(isSystem) ? messages.filter(isSystem) : kept.filter(isSystem);
  const added = messages.filter((message) => !isSystem(message));
  const said = kept.filter((message) => !isSystem(message));
  const lastPrompt = said.findLastIndex(({ role }) => role === 'user');
  const end = added.length === 0 ? lastPrompt + 1 : startOfLastTurn(said);
  const before = replacesLastTurn ? said.slice(0, end) : said;
  const all = [...system.filter(({ content }) => content !== ''), ...before, ...added];
  if (sizeOf(all) <= maxConversation) return withoutOpenCalls(all);
  throw new RunnerError(
    'context-exceeded',
    'This conversation is longer than what can be kept in memory. Begin a new one.',
  );
}

/** The place of the first of the last prompts that no answer precedes; 0 without any. */
export function startOfLastTurn(messages: readonly Message[]): number {
  const start = messages.findLastIndex(
    ({ role }, at) => role === 'user' && messages[at - 1]?.role !== 'user',
  );
  return Math.max(0, start);
}

function withoutOpenCalls(messages: readonly Message[]): readonly Message[] {
  const answered = new Set(messages.map(({ toolCallId }) => toolCallId));
  return messages.map(({ toolCalls, ...message }) => {
    const calls = toolCalls?.filter(({ id }) => answered.has(id)) ?? [];
    return calls.length === 0 ? message : { ...message, toolCalls: calls };
  });
}

function sizeOf(messages: readonly Message[]): number {
  let size = 0;
  for (const { content, attachments = [], images = [], toolCalls = [] } of messages) {
    const calls = toolCalls.map((call) => JSON.stringify(call.arguments));
    for (const text of [content, ...attachments.map((one) => one.text), ...images, ...calls])
      size += text.length;
  }
  return size;
}
