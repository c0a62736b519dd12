import type { ParsedToolCall, StreamEvent } from './events.ts';

/** The part of a stream parser that this file needs. The parser itself is passed in. */
interface ThoughtParser {
  push(chunk: string): readonly StreamEvent[];
  finish(): readonly StreamEvent[];
  /** Whether it reads what may be a call, so that tags are part of its values. */
  readonly isHolding: boolean;
  readonly steps: number;
}

/**
 * Searches the model's thinking for calls. A call there does not count, unless it is the last thing that the model
 * writes, or the thinking never ends: if a model forgets to end its thinking before a call, there is no answer and the
 * call would be lost.
 */
export class CallsInThinking {
  /** Creates a parser that finds only calls. */
  readonly createParser: () => ThoughtParser;
  #parser: ThoughtParser | undefined;
  /** The last calls between which there is no text. */
  #calls: ParsedToolCall[] = [];
  #isFollowed = false;

  constructor(createParser: () => ThoughtParser) {
    this.createParser = createParser;
  }

  /** Whether something came that may be a call, so that every character counts. */
  get isReading(): boolean {
    return this.#parser !== undefined;
  }

  /** The number of characters visited so far. */
  get steps(): number {
    return this.#parser?.steps ?? 0;
  }

  read(text: string): void {
    let from = 0;
    if (this.#parser === undefined) {
      from = text.search(/[<[\]]/);
      if (from < 0) return;
      this.#parser = this.createParser();
    }
    this.#take(this.#parser.push(text.slice(from)));
  }

  /** The calls at the end of the thinking; of thinking that never ended, the last ones in it. */
  finish(neverEnded: boolean): readonly ParsedToolCall[] {
    this.#take(this.#parser?.finish() ?? []);
    this.#parser = undefined;
    return this.#isFollowed && !neverEnded ? [] : this.#calls;
  }

  #take(events: readonly StreamEvent[]): void {
    for (const event of events) {
      if (event.type === 'toolCall') {
        if (this.#isFollowed) this.#calls = [];
        this.#isFollowed = false;
        this.#calls.push(event.call);
      } else if (event.type === 'text' && event.text.trim() !== '') this.#isFollowed = true;
    }
  }
}
