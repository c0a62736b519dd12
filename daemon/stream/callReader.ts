import { type Block, type BlockStart, readBlock } from './callBlock.ts';
import type { CallToken } from './callMarks.ts';
import type { CallContext } from './forms/call.ts';
import type { Marks } from './marks.ts';
import type { OfferedTools } from './offeredTools.ts';
import { type Reading, Refusal, type RefusalReason, Source } from './source.ts';

/**
 * The outcome of reading a block. `end` is the offset after the block, or after the part of a mention that was read.
 */
export type BlockResult =
  | { readonly kind: 'calls'; readonly block: Block; readonly end: number }
  | {
      readonly kind: 'refused';
      readonly reason: RefusalReason;
      readonly end: number;
      readonly begun: boolean;
    };

export interface CallReaderOptions {
  readonly tools: OfferedTools;
  readonly marks: Marks<CallToken>;
  /** The close tag of the block. */
  readonly close: string;
  readonly start: BlockStart;
}

/** Drives the reading of one block of calls, piece by piece. */
export class CallReader {
  readonly #source: Source;
  readonly #context: CallContext;
  readonly #reading: Reading<Block>;

  constructor({ tools, marks, close, start }: CallReaderOptions) {
    this.#source = new Source(close);
    this.#context = {
      tools,
      marks,
      isTagged: start.proof === 'tag',
      begun: false,
      pending: undefined,
      endAt: undefined,
    };
    this.#reading = readBlock(this.#source, this.#context, start);
  }

  get begun(): boolean {
    return this.#context.begun;
  }

  /** Whether a tag or a mark was read which shows that a call was meant. */
  get isTagged(): boolean {
    return this.#context.isTagged;
  }

  /** Reads the rest of a piece. A result may come before the end of the piece. */
  read(text: string, from: number): BlockResult | undefined {
    this.#source.feed(text, from);
    return this.#resume();
  }

  /** The reply is over. */
  finish(): BlockResult {
    this.#source.feed('', 0);
    this.#source.ended = true;
    return this.#resume() ?? this.#refused('cut');
  }

  #resume(): BlockResult | undefined {
    try {
      const step = this.#reading.next();
      if (step.done) return { kind: 'calls', block: step.value, end: step.value.end };
      return this.#source.isLost ? this.#refused('malformed') : undefined;
    } catch (error) {
      if (error instanceof Refusal) return this.#refused(error.reason, error.at);
      throw error;
    }
  }

  #refused(reason: RefusalReason, end = this.#source.offset): BlockResult {
    return { kind: 'refused', reason, end, begun: this.begun };
  }
}
