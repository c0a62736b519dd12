import { Blanks, LineRest } from './afterTag.ts';
import { BareCall } from './bareCall.ts';
import { Channels } from './channels.ts';
import { CodeTracker } from './codeTracker.ts';
import { ContextBlock } from './contextBlock.ts';
import { EventSink } from './eventSink.ts';
import type { StreamEnd, StreamEvent } from './events.ts';
import { Lead } from './lead.ts';
import { OfferedTools, type ToolShape } from './offeredTools.ts';
import { type Opening, Openings } from './openings.ts';
import { defaultProfile, type StreamProfile } from './profile.ts';
import { Prose } from './prose.ts';
import type { Mode, Scan } from './scan.ts';
import { Tag } from './tag.ts';
import { TaggedCall } from './taggedCall.ts';
import { Thinking } from './thinking.ts';

/**
 * Reads one reply while it comes, in pieces of any size. The events are the same for every way to cut the input,
 * nothing of it is lost, at most one tag is withheld (but for a context block or a tool call, until it ends), and the
 * work is linear. It never throws.
 */
export interface StreamParser {
  push(chunk: string): StreamEvent[];
  /** The reply is over: gives back what was withheld, and says what was left open. Nothing may be pushed after it. */
  finish(reason?: StreamEnd): StreamEvent[];
  /** Characters looked at so far, for tests of linearity. */
  readonly steps: number;
}

export interface StreamParserOptions {
  readonly profile?: StreamProfile;
  /** The tools that the request carried; only they are recovered from text. */
  readonly tools?: readonly ToolShape[];
  /** Element names whose whole blocks are context that the model echoes. */
  readonly contextTags?: readonly string[];
}

export function createStreamParser(options: StreamParserOptions = {}): StreamParser {
  return new Parser(options);
}

class Parser implements StreamParser, Scan {
  readonly sink = new EventSink();
  readonly code = new CodeTracker();
  readonly openings: Openings;
  readonly profile: StreamProfile;
  readonly tools: OfferedTools;
  shown = false;
  thought = false;
  mentions = 0;
  steps = 0;
  readonly #lead = new Lead(this);
  readonly #prose = new Prose(this);
  readonly #tag = new Tag(this);
  readonly #thinking = new Thinking(this);
  readonly #blanks = new Blanks(this);
  readonly #lineRest = new LineRest(this);
  readonly #block = new ContextBlock(this);
  readonly #taggedCall = new TaggedCall(this);
  readonly #bareCall = new BareCall(this);
  readonly #channels = new Channels(this);
  #mode: Mode = this.#lead;

  constructor({ profile = defaultProfile, tools = [], contextTags = [] }: StreamParserOptions) {
    this.profile = profile;
    this.tools = new OfferedTools(tools);
    this.openings = new Openings({ profile, contextTags, withCalls: this.tools.offered });
    if (profile.prefilled) this.toThinking(profile.thinkingTags.map((name) => name.toLowerCase()));
  }

  push(chunk: string): StreamEvent[] {
    if (chunk === '') return [];
    if (this.#mode === this.#prose && this.#prose.isPlain(chunk)) return [{ type: 'text', text: chunk }];
    if (this.#mode === this.#thinking && this.#thinking.isPlain(chunk))
      return [{ type: 'thinking', text: chunk }];
    let at = 0;
    while (at < chunk.length) at = this.#mode.read(chunk, at);
    return this.sink.take();
  }

  /** What one mode gives back at the end may leave another open: the last one has nothing left to give. */
  finish(reason: StreamEnd = 'stop'): StreamEvent[] {
    this.#mode.finish(reason);
    return this.sink.take();
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
    this.#lead.begin(afterCall);
    this.#mode = this.#lead;
  }

  toTag(lead: string, beginsLine: boolean): void {
    this.#tag.begin(lead, beginsLine);
    this.#mode = this.#tag;
  }

  toThinking(names: readonly string[]): void {
    this.#thinking.begin(names);
    this.#mode = this.#thinking;
  }

  toBlanks(): void {
    this.#mode = this.#blanks;
  }

  /** Before the answer all white space after a block goes with it, so that thinking may still open. */
  toLineRest(after: 'thinking' | 'context'): void {
    if (!this.shown) return this.toBlanks();
    this.#lineRest.begin(after);
    this.#mode = this.#lineRest;
  }

  toBlock(name: string, lead: string, source: string): void {
    this.#block.begin(name, lead, source);
    this.#mode = this.#block;
  }

  toCall(opening: Opening & { readonly kind: 'call' }, lead: string): void {
    this.#taggedCall.begin(opening, lead);
    this.#mode = this.#taggedCall;
  }

  toChannels(header: string): void {
    this.#channels.begin(header);
    this.#mode = this.#channels;
  }

  toBareCall(lead: string): void {
    this.#bareCall.begin(lead);
    this.#mode = this.#bareCall;
  }
}
