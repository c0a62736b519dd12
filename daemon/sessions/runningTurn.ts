import type { ChatDelta, Message } from '../../protocol/messages/chat.ts';
import { callEndings } from '../chat/permissions.ts';
import type { Extension, SessionChange } from './sessionFiles.ts';
import {
  promptToAddition,
  type RecordOptions,
  type ReplyRecord,
  replyToAddition,
  saysSomething,
  type TurnPrompt,
} from './turnRecords.ts';

interface RunningTurnOptions {
  /** It is kept only when it is whole, in the place of the last turn. */
  readonly replacesLastTurn: boolean;
  /** Settles when the file is free for this turn. */
  readonly before: Promise<unknown>;
  /** Takes the messages of the conversation, with those of the turn, if that is a part of it. */
  readonly remember: (messages: readonly Message[]) => void;
  /** Writes to the file of the conversation, as `SessionFiles.extend` does. Undefined if nothing is kept. */
  readonly write: (...change: SessionChange) => Promise<Extension | undefined>;
  readonly recording: () => Omit<RecordOptions, 'state'>;
  /** Whether turns end because the process does. */
  readonly isEnding: () => boolean;
  readonly onDidChange: () => void;
}

/** How often an answer is written while it comes, in ms. */
const interval = 500;
/** Each time the whole answer is written, so a long one is written less often. In characters per ms. */
const maxRate = 256;

/**
 * A turn that is kept from its beginning: the prompt at once, then what has come of the answer now and then, and the
 * whole answer in its place at the end.
 */
export class RunningTurn {
  readonly #prompt: TurnPrompt;
  readonly #parts: RunningTurnOptions;
  readonly #answer = new AnswerSoFar();
  /** The prompt in the file. */
  #asked: Promise<Extension | undefined>;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(prompt: TurnPrompt, parts: RunningTurnOptions) {
    this.#prompt = prompt;
    this.#parts = parts;
    this.#asked = parts.before.then(() => (parts.replacesLastTurn ? undefined : this.#ask()));
    // The end of the turn tries again, and reports the error.
    this.#asked.catch(() => undefined);
  }

  add(delta: ChatDelta): void {
    this.#answer.add(delta);
    this.#saveLater();
  }

  /** Writes what has come so far. The mark is that of an answer whose process was killed. */
  async save(): Promise<void> {
    if (!this.#isOver) await this.#reply({ answer: this.#answer.messages(), partial: 'failed' });
  }

  /**
   * Keeps the answer; without one, what the deltas have brought. If that is nothing, the prompt is not kept, because
   * the client asks it again, unless the process ends.
   */
  async end(
    partial?: ReplyRecord['partial'],
    answer = this.#answer.messages(),
    cleared?: ReplyRecord['cleared'],
  ): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    const said = answer.filter(saysSomething);
    const { replacesLastTurn, remember } = this.#parts;
    const isPart = said.length > 0 && !(replacesLastTurn && partial);
    if (isPart) remember([...this.#prompt.messages, ...said]);
    if (replacesLastTurn) {
      await this.#asked;
      if (isPart) await this.#replace({ answer, cleared });
    } else if (isPart) {
      this.#asked = this.#asked.catch(() => this.#ask());
      await this.#reply({ answer, cleared, ...(partial ? { partial } : {}) });
    } else if (!this.#parts.isEnding()) await this.#takeBack();
    this.#parts.onDidChange();
  }

  async #replace(reply: ReplyRecord): Promise<void> {
    const { write, recording } = this.#parts;
    await write((before) => {
      const prompt = promptToAddition(this.#prompt, { ...recording(), state: before });
      const options = { ...recording(), state: prompt.state };
      const { lines, state } = replyToAddition(this.#prompt.model, reply, options);
      return { lines: prompt.lines + lines, state };
    }, 'lastTurn');
  }

  async #ask(): Promise<Extension | undefined> {
    const { write, recording, onDidChange } = this.#parts;
    const asked = await write((state) => promptToAddition(this.#prompt, { ...recording(), state }));
    onDidChange();
    return asked;
  }

  async #reply(reply: ReplyRecord): Promise<void> {
    const { write, recording } = this.#parts;
    const asked = await this.#asked;
    if (!asked) return;
    const { state, end } = asked.after;
    const { model } = this.#prompt;
    // The user may have set a title meanwhile.
    await write(
      ({ title }) => replyToAddition(model, reply, { ...recording(), state: { ...state, title } }),
      end,
    );
  }

  async #takeBack(): Promise<void> {
    const asked = await this.#asked.catch(() => undefined);
    if (!asked) return;
    const { before, after } = asked;
    await this.#parts.write(({ title }) => {
      const isRetitled = title !== after.state.title;
      return { lines: '', state: isRetitled ? { ...before.state, title } : before.state };
    }, before.end);
  }

  #saveLater(): void {
    if (this.#isOver || this.#timer) return;
    const pause = Math.max(interval, this.#answer.size / maxRate);
    this.#timer = setTimeout(() => void this.#saveAgain(), pause).unref();
  }

  async #saveAgain(): Promise<void> {
    const { size } = this.#answer;
    // The end of the turn reports what cannot be written.
    await this.save().catch(() => undefined);
    this.#timer = undefined;
    if (this.#answer.size > size) this.#saveLater();
  }
}

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
        return { role: 'tool', content: callEndings.interrupted, toolCallId: id, toolName: name };
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
