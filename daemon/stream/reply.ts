import { CodeTracker } from './codeTracker.ts';
import type { Echoes } from './echoes.ts';
import { EventSink, type ParsedToolCall, type StreamEvent } from './events.ts';
import type { ThinkingEnd } from './family.ts';
import type { Openings } from './openings.ts';
import type { CallStart, ContextOpening } from './openingTable.ts';
import { type StreamProfile, withSuffix } from './profile.ts';
import type { RequestTools } from './requestTools.ts';
import type { Verdict } from './sentence.ts';

/**
 * One state of the parser. A mode reads every character once, and keeps what it withholds itself. So the result cannot
 * depend on how the input was cut.
 */
export interface Mode {
  /** Reads `text` from `from` on, and returns the index of the first character that it leaves to the next mode. */
  read(text: string, from: number): number;
  /** Ends the stream: gives back everything that is withheld, and reports what was left open. */
  finish(reason: string): void;
}

/** The mode that reads next, and how it begins. */
export type NextMode =
  /** The answer itself. */
  | { readonly mode: 'prose' }
  /** Before the answer, or right after a tool call. Blanks are withheld until it is known what follows. */
  | { readonly mode: 'lead'; readonly afterCall: boolean }
  /** At a character that may begin a tag. */
  | ({ readonly mode: 'tag' } & TagPlace)
  | { readonly mode: 'thinking'; readonly end: ThinkingEnd }
  /** After a tag. The white space after it is dropped. */
  | { readonly mode: 'blanks' }
  /** After a block of thinking or context. If nothing else is on its line, the line is dropped with it. */
  | { readonly mode: 'lineRest'; readonly after: 'thinking' | 'context' }
  /** Inside a block that may be an echo. */
  | { readonly mode: 'block'; readonly block: OpenBlock }
  /** At text that may be tool calls. */
  | { readonly mode: 'call'; readonly start: CallStart }
  /** At a token that ends a turn if nothing follows it. */
  | { readonly mode: 'end'; readonly token: string }
  /** The reply is in channels. `header` is its beginning. */
  | { readonly mode: 'channels'; readonly header: string };

/** Where a tag stands. */
export interface TagPlace {
  /** The blanks that are withheld before it. */
  readonly lead: string;
  readonly beginsLine: boolean;
  /** True right after a tool call. */
  readonly afterCall?: boolean;
  /** If it is not a tag, it may be a reply that consists only of calls. */
  readonly mayBeCall?: boolean;
}

/** A tag of a context block, and what is known of the block. */
export interface OpenBlock extends Omit<ContextOpening, 'kind' | 'literal'> {
  /** The blanks that are withheld before the tag. */
  readonly lead: string;
  readonly tag: string;
  readonly beginsLine: boolean;
}

/** Reads text with the current mode, and changes the mode. The parser implements it. */
export interface ReplyReader {
  begin(next: NextMode): void;
  /** Reads text in the current mode. */
  read(text: string): void;
}

/** Nested blocks that turn out to be no echoes are read again: at most this often. Deeper blocks are text. */
const maxReadings = 8;

const prose: NextMode = { mode: 'prose' };

/** What is known of one reply so far. Modes note there what they read, and enter the next mode by `enter`. */
export class Reply {
  readonly sink = new EventSink();
  readonly code = new CodeTracker();
  /** Whether a part of the answer was shown. */
  shown = false;
  /** Whether a call was reported. */
  called = false;
  /** Whether a thinking block was completed. */
  thought = false;
  /** Whether a list was read to its end and had no call, so that no other is: the work would not be linear. */
  hasBrokenList = false;
  /** How many thinking tags in prose were only mentions, so that their close tags are prose too. */
  mentions = 0;
  /** How many thinking tags thinking held. Their close tags may come after the thinking. */
  nested = 0;
  /** The mark that closes the answer, or nothing if no mark has opened it. */
  answerClose = '';
  /** Whether the last calls within a line were meant, and the length of the text up to them. */
  judged: { readonly verdict: Verdict; readonly at: number } | undefined;
  /** The number of characters visited, for the tests that the work is linear. */
  steps = 0;
  /** How often the text that is read now was read before, because a block that held it is no echo. */
  readings = 0;
  #strayAt = -1;

  constructor(
    public profile: StreamProfile,
    public openings: Openings,
    readonly tools: RequestTools,
    /** What the chat sent, which the model may echo. */
    readonly echoes: Echoes,
    /** Searches the model's thinking for calls. */
    readonly thoughts: CallsInThinking,
    private readonly reader: ReplyReader,
  ) {}

  visit(characters: number): void {
    this.steps += characters;
  }

  /** From here on the marks have this suffix. */
  useSuffix(suffix: string): void {
    this.profile = withSuffix(this.profile, suffix);
    this.openings = this.openings.withProfile(this.profile);
  }

  /** A close tag of thinking that nothing had opened: what was shown before it was no answer. */
  noteStray(): void {
    this.#strayAt = this.sink.length;
  }

  /** Whether nothing was shown since a stray close tag, so that the answer begins here. */
  get isAfterStray(): boolean {
    return this.#strayAt === this.sink.length;
  }

  /** Reports withheld `text` as plain text after all. */
  giveBack(text: string): void {
    this.steps += text.length;
    this.sink.text(text);
    if (text.length === 1) this.code.step(text.charCodeAt(0));
    else this.code.track(text);
  }

  /** Reads `text` again in the current mode, because an earlier mode read too far. */
  replay(text: string): void {
    this.reader.read(text);
  }

  /** Reads the text of a block that is no echo; it was read `readings` times before. */
  readAgain(text: string, readings: number): void {
    const before = this.readings;
    this.readings = readings;
    this.reader.read(text);
    this.readings = before;
  }

  enter(next: NextMode): void {
    this.reader.begin(next);
  }

  enterProse(): void {
    this.shown = true;
    this.reader.begin(prose);
  }

  /** Before the answer, all white space after a block is dropped with it, so that thinking may still open. */
  enterLineRest(after: 'thinking' | 'context'): void {
    this.enter(this.shown ? { mode: 'lineRest', after } : { mode: 'blanks' });
  }

  enterBlock(block: OpenBlock): void {
    if (this.readings === maxReadings) this.enterContent(block);
    else this.enter({ mode: 'block', block });
  }

  /**
   * After the tag of a block that is no echo. In the middle of an answer the lines around a dropped tag stay separate.
   */
  enterContent({ lead, tag, beginsLine, dropsTag }: OpenBlock): void {
    if (dropsTag && !this.shown) this.sink.markup(lead);
    else this.giveBack(lead);
    if (dropsTag) {
      this.sink.markup(tag);
      return this.enterAfterContext(beginsLine);
    }
    this.giveBack(tag);
    this.enterProse();
  }

  /** After something that is not shown. If it began its line and nothing else is on it, the line goes with it. */
  enterAfterContext(beginsLine: boolean): void {
    if (beginsLine) this.enterLineRest('context');
    else this.enterProse();
  }
}

/** The words in a warning for why a stream ended. */
export function endedBy(reason: string): string {
  return reason === 'stop' ? 'The reply ended' : `The reply ended (${reason})`;
}

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
  #parser: ThoughtParser | undefined;
  /** The last calls between which there is no text. */
  #calls: ParsedToolCall[] = [];
  #isFollowed = false;

  constructor(/** Creates a parser that finds only calls. */ readonly createParser: () => ThoughtParser) {}

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
