import type { StreamRedaction } from '../config/streamRedaction.ts';
import type { DeltaPump } from './deltas.ts';
import { LongText } from './formatting.ts';

type Kind = 'text' | 'thinking';

/** The text and the thinking of an answer: without secrets, so that its deltas, its message and all copies are the same. */
export class AnswerText {
  readonly #pump: DeltaPump;
  readonly #redactions: Readonly<Record<Kind, StreamRedaction>>;
  readonly #come = { text: new LongText(), thinking: new LongText() };

  constructor(pump: DeltaPump, createRedaction: () => StreamRedaction) {
    this.#pump = pump;
    this.#redactions = { text: createRedaction(), thinking: createRedaction() };
  }

  get text(): LongText {
    return this.#come.text;
  }

  get thinking(): LongText {
    return this.#come.thinking;
  }

  add(kind: Kind, added: string): void {
    this.#pauseOf(kind === 'text' ? 'thinking' : 'text');
    this.#say(kind, this.#redactions[kind].add(added));
  }

  /** Something other than text comes next. */
  pause(): void {
    this.#pauseOf('thinking');
    this.#pauseOf('text');
  }

  end(): void {
    for (const kind of ['thinking', 'text'] as const) this.#say(kind, this.#redactions[kind].end());
  }

  #pauseOf(kind: Kind): void {
    this.#say(kind, this.#redactions[kind].pause());
  }

  #say(kind: Kind, text: string): void {
    if (text === '') return;
    this.#come[kind].add(text);
    this.#pump.push({ kind, text });
  }
}
