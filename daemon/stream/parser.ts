import { Blanks, LineRest } from './afterTag.ts';
import { type CallToken, callMarksOf } from './callMarks.ts';
import { CallMode } from './callMode.ts';
import type { CallStart } from './callStart.ts';
import { Channels } from './channels.ts';
import { CodeTracker } from './codeTracker.ts';
import { ContextBlock } from './contextBlock.ts';
import { Echoes } from './echoes.ts';
import { EndToken } from './endToken.ts';
import { EventSink } from './eventSink.ts';
import type { StreamEnd, StreamEvent } from './events.ts';
import { Lead } from './lead.ts';
import type { Marks } from './marks.ts';
import { OfferedTools, type ToolShape } from './offeredTools.ts';
import { Openings } from './openings.ts';
import { defaultProfile, type StreamProfile } from './profile.ts';
import { Prose } from './prose.ts';
import type { Mode, OpenBlock, Scan, TagPlace, ThinkingEnd } from './scan.ts';
import { Tag } from './tag.ts';
import { Thinking } from './thinking.ts';
import { Thoughts } from './thoughts.ts';

/**
 * Reads one reply as it arrives, in pieces of any size. The events are the same however the input is cut, and nothing
 * of it is lost. At most one tag is withheld, except for a context block or a tool call, which is withheld until it
 * ends. The work is linear. It never throws.
 */
export interface StreamParser {
  push(chunk: string): StreamEvent[];
  /** A piece of thinking that the runner itself has separated. Calls at its end are reported when the reply is over. */
  pushThinking(chunk: string): StreamEvent[];
  /** Ends the reply: gives back what was withheld, and reports what was left open. Nothing may be pushed afterwards. */
  finish(reason?: StreamEnd): StreamEvent[];
  /** The number of characters visited so far, for tests of linearity. */
  readonly steps: number;
}

export interface StreamParserOptions {
  readonly profile?: StreamProfile;
  /** The template has already opened thinking: the text starts inside it, and only the close tag comes. */
  readonly startsInThinking?: boolean;
  /** The tools in the request. Only calls of these are recovered from text. */
  readonly tools?: readonly ToolShape[];
  /** Names of elements that hold context. The model may echo one, or write one of its own. */
  readonly contextTags?: readonly string[];
  /** The texts that were sent. A context element, or a tool's result, is removed if its content stands in one of them. */
  readonly sent?: readonly string[];
  /** The open and close tags of `contextTags` are not shown, whatever is between them. */
  readonly dropContextTags?: boolean;
}

/** A text within several blocks is read so often at most. Blocks that are even deeper are text. */
const mostReadings = 8;

export function createStreamParser(options: StreamParserOptions = {}): StreamParser {
  return new Parser(options);
}

class Parser implements StreamParser, Scan {
  readonly sink = new EventSink();
  readonly code = new CodeTracker();
  readonly openings: Openings;
  readonly profile: StreamProfile;
  readonly tools: OfferedTools;
  readonly echoes: Echoes;
  shown = false;
  called = false;
  thought = false;
  nested = 0;
  mentions = 0;
  answerClose = '';
  readonly thoughts: Thoughts;
  #callMarks: Marks<CallToken> | undefined;
  steps = 0;
  readings = 0;
  #replayed = false;
  readonly #lead = new Lead(this);
  readonly #prose = new Prose(this);
  readonly #tag = new Tag(this);
  readonly #thinking = new Thinking(this);
  readonly #blanks = new Blanks(this);
  readonly #lineRest = new LineRest(this);
  readonly #block: ContextBlock;
  readonly #call = new CallMode(this);
  readonly #endToken = new EndToken(this);
  readonly #channels = new Channels(this);
  #mode: Mode = this.#lead;

  constructor(options: StreamParserOptions) {
    const { profile = defaultProfile, tools = [], contextTags = [], dropContextTags = false } = options;
    this.profile = profile;
    this.tools = new OfferedTools(tools);
    this.echoes = new Echoes(options.sent ?? []);
    this.#block = new ContextBlock(this);
    const withCalls = this.tools.offered;
    this.openings = new Openings({ profile, contextTags, dropContextTags, withCalls });
    this.thoughts = new Thoughts(() => createStreamParser({ tools, profile: thoughtProfile(profile) }));
    if (options.startsInThinking)
      this.toThinking({ names: profile.thinkingTags.map((name) => name.toLowerCase()) });
  }

  /** Created with the first calls, because most replies have none. */
  get callMarks(): Marks<CallToken> {
    this.#callMarks ??= callMarksOf(this.profile);
    return this.#callMarks;
  }

  push(chunk: string): StreamEvent[] {
    if (chunk === '') return [];
    if (this.#mode === this.#prose && this.#prose.isPlain(chunk)) return [{ type: 'text', text: chunk }];
    if (this.#mode === this.#thinking && this.#thinking.isPlain(chunk))
      return [{ type: 'thinking', text: chunk }];
    this.#read(chunk);
    return this.sink.take();
  }

  pushThinking(chunk: string): StreamEvent[] {
    if (chunk === '') return [];
    // A runner that separates the thinking leaves none in the text.
    if (this.steps === 0) this.toLead(false);
    if (this.tools.offered) this.thoughts.read(chunk);
    return [{ type: 'thinking', text: chunk }];
  }

  /**
   * What one mode gives back at the end may open another mode. So this repeats until the last mode has nothing left.
   */
  finish(reason: StreamEnd = 'stop'): StreamEvent[] {
    let mode: Mode;
    do {
      mode = this.#mode;
      this.#replayed = false;
      mode.finish(reason);
    } while (this.#mode !== mode || this.#replayed);
    this.#recover();
    return this.sink.take();
  }

  /** Calls at the end of the thinking count if the model said nothing else. */
  #recover(): void {
    if (this.shown || this.called) return;
    for (const call of this.thoughts.finish())
      this.sink.add({ type: 'toolCall', call, text: '', fromThinking: true });
  }

  #read(text: string): void {
    let at = 0;
    while (at < text.length) at = this.#mode.read(text, at);
  }

  replay(text: string): void {
    this.#replayed = true;
    this.#read(text);
  }

  readAgain(text: string, readings: number): void {
    const before = this.readings;
    this.readings = readings;
    this.replay(text);
    this.readings = before;
  }

  giveBack(text: string): void {
    this.steps += text.length;
    this.sink.text(text);
    if (text.length === 1) this.code.step(text.charCodeAt(0));
    else this.code.track(text);
  }

  toProse(): void {
    this.shown = true;
    this.#mode = this.#prose;
  }

  toLead(afterCall: boolean): void {
    this.called ||= afterCall;
    this.#lead.begin(afterCall);
    this.#mode = this.#lead;
  }

  toTag(lead: string, place: TagPlace): void {
    this.#tag.begin(lead, place);
    this.#mode = this.#tag;
  }

  toThinking(end: ThinkingEnd): void {
    this.#thinking.begin(end);
    this.#mode = this.#thinking;
  }

  toBlanks(): void {
    this.#mode = this.#blanks;
  }

  /** Before the answer, all white space after a block is dropped with it, so that thinking may still open. */
  toLineRest(after: 'thinking' | 'context'): void {
    if (!this.shown) return this.toBlanks();
    this.#lineRest.begin(after);
    this.#mode = this.#lineRest;
  }

  toBlock(block: OpenBlock): void {
    if (this.readings === mostReadings) return this.toContent(block);
    this.#block.begin(block);
    this.#mode = this.#block;
  }

  /** In the middle of an answer the lines around a dropped tag stay separate. */
  toContent({ lead, tag, beginsLine, dropsTag }: OpenBlock): void {
    if (dropsTag && !this.shown) this.sink.markup(lead);
    else this.giveBack(lead);
    if (dropsTag) {
      this.sink.markup(tag);
      return this.toAfterContext(beginsLine);
    }
    this.giveBack(tag);
    this.toProse();
  }

  toAfterContext(beginsLine: boolean): void {
    if (beginsLine) this.toLineRest('context');
    else this.toProse();
  }

  toCall(start: CallStart): void {
    this.#call.begin(start);
    this.#mode = this.#call;
  }

  toEnd(token: string): void {
    this.#endToken.begin(token);
    this.#mode = this.#endToken;
  }

  toChannels(header: string): void {
    this.#channels.begin(header);
    this.#mode = this.#channels;
  }
}

/** In thinking only calls in their tags count, and nothing else is separated. */
function thoughtProfile(profile: StreamProfile): StreamProfile {
  return {
    ...profile,
    name: 'thoughts',
    thinkingTags: [],
    thinkingMarks: [],
    channels: false,
    bareCalls: false,
    answerMarks: [],
    resultTags: [],
    resultMarks: [],
  };
}
