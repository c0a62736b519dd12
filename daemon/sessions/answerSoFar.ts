import type { ChatDelta, Message } from '../../protocol/messages/chat.ts';

/** The messages of an answer that is still coming, put together from its deltas. */
export class AnswerSoFar {
  readonly #messages: Message[] = [];
  #size = 0;

  add(delta: ChatDelta): void {
    if (delta.kind === 'notice') return;
    this.#size += sizeOf(delta);
    if (delta.kind === 'toolResult') {
      const { id, name, content } = delta.toolResult;
      this.#messages.push({ role: 'tool', content, toolCallId: id, toolName: name });
    } else this.#messages.push(extended(this.#takeAnswer(), delta));
  }

  /** In characters. */
  get size(): number {
    return this.#size;
  }

  /** What can be sent as history: calls that are still running have an answer, too. */
  messages(): readonly Message[] {
    const ended = new Set(this.#messages.map(({ toolCallId }) => toolCallId));
    const calls = this.#messages.flatMap(({ toolCalls = [] }) => toolCalls);
    const running = calls.filter(({ id }) => !ended.has(id));
    return [
      ...this.#messages,
      ...running.map(({ id, name }): Message => {
        return { role: 'tool', content: 'The call was interrupted.', toolCallId: id, toolName: name };
      }),
    ];
  }

  /** After the results of a round, the next answer begins. */
  #takeAnswer(): Message {
    const last = this.#messages.at(-1);
    if (last?.role !== 'assistant') return { role: 'assistant', content: '' };
    this.#messages.pop();
    return last;
  }
}

type AnswerDelta = Extract<ChatDelta, { readonly kind: 'text' | 'thinking' | 'toolCall' }>;

function extended(answer: Message, delta: AnswerDelta): Message {
  const { content, thinking = '', toolCalls = [] } = answer;
  switch (delta.kind) {
    case 'text':
      return { ...answer, content: content + delta.text };
    case 'thinking':
      return { ...answer, thinking: thinking + delta.text };
    case 'toolCall':
      return { ...answer, toolCalls: [...toolCalls, delta.toolCall] };
  }
}

function sizeOf(delta: Exclude<ChatDelta, { readonly kind: 'notice' }>): number {
  return 'text' in delta ? delta.text.length : JSON.stringify(delta).length;
}
