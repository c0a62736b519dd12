import type { StreamEvent, ToolCall } from './events.ts';

/** Reads a reply while it comes; what the parser of the thoughts is to this file, which makes none itself. */
interface ThoughtParser {
  push(chunk: string): readonly StreamEvent[];
  finish(): readonly StreamEvent[];
  readonly steps: number;
}

/**
 * Looks for calls in what a model thinks. They are thoughts, unless they are the last thing that it says: a model that
 * forgets to end its thinking before it calls has no answer, and its call would be lost.
 */
export class Thoughts {
  readonly #createParser: () => ThoughtParser;
  #parser: ThoughtParser | undefined;
  #calls: ToolCall[] = [];

  constructor(createParser: () => ThoughtParser) {
    this.#createParser = createParser;
  }

  /** Something came that may be a call, so that every character counts. */
  get isReading(): boolean {
    return this.#parser !== undefined;
  }

  /** Characters looked at so far. */
  get steps(): number {
    return this.#parser?.steps ?? 0;
  }

  read(text: string): void {
    let from = 0;
    if (this.#parser === undefined) {
      from = text.search(/[<[\]]/);
      if (from < 0) return;
      this.#parser = this.#createParser();
    }
    if (from < text.length) this.#take(this.#parser.push(text.slice(from)));
  }

  /** The calls that ended the thoughts. */
  finish(): readonly ToolCall[] {
    this.#take(this.#parser?.finish() ?? []);
    this.#parser = undefined;
    return this.#calls;
  }

  #take(events: readonly StreamEvent[]): void {
    for (const event of events) {
      if (event.type === 'toolCall') this.#calls.push(event.call);
      else if (event.type === 'text' && event.text.trim() !== '') this.#calls = [];
    }
  }
}
