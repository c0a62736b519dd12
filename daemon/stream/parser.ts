import { CallMode } from './callMode.ts';
import { Channels } from './channels.ts';
import { ContextBlock } from './contextBlock.ts';
import { Echoes, type SentContext } from './echoes.ts';
import type { StreamEnd, StreamEvent } from './events.ts';
import { Openings } from './openings.ts';
import { defaultProfile, perProfile, type StreamProfile } from './profile.ts';
import { Blanks, EndToken, Lead, LineRest, Prose } from './proseModes.ts';
import { CallsInThinking, type Mode, type NextMode, Reply, type ReplyReader } from './reply.ts';
import { RequestTools, type ToolShape } from './requestTools.ts';
import { TagMode } from './tag.ts';
import { Thinking } from './thinking.ts';

export interface StreamParserOptions {
  readonly profile?: StreamProfile;
  /** The template has already opened thinking: the text starts inside it, and only the close tag comes. */
  readonly startsInThinking?: boolean;
  /** The tools in the request. Only calls of these are recovered from text. */
  readonly tools?: readonly ToolShape[];
  /** Names of elements that hold context. The model may echo one, or write one of its own. */
  readonly contextTags?: readonly string[];
  /** What was sent. If the model repeats a whole element of it, or a tool's result, that is removed. */
  readonly sent?: SentContext;
  /** The open and close tags of `contextTags` are not shown, whatever is between them. */
  readonly dropContextTags?: boolean;
}

/** A server that separates the thinking may leave this before it. Longer text is thinking. */
const openTag = '<think>';
const maxBegun = 64;

/**
 * Reads one reply as it arrives, in pieces of any size. The events are the same however the input is cut, and nothing
 * of it is lost. At most one tag is withheld, except for a context block or a tool call, which is withheld until it
 * ends. The work is linear. It never throws.
 */
export class StreamParser implements ReplyReader {
  readonly #reply: Reply;
  readonly #prose: Prose;
  #mode: Mode;
  #hasReplayed = false;
  /** The beginning of separate thinking, as long as it may be the open tag. */
  #begun: string | undefined = '';

  constructor(options: StreamParserOptions = {}) {
    const {
      profile = defaultProfile,
      tools: shapes = [],
      contextTags = [],
      dropContextTags = false,
    } = options;
    const tools = new RequestTools(shapes);
    const openings = new Openings({ profile, contextTags, dropContextTags, tools });
    const thoughts = new CallsInThinking(
      () => new StreamParser({ tools: shapes, profile: messageProfile(profile) }),
    );
    const reply = new Reply(profile, openings, tools, new Echoes(options.sent), thoughts, this);
    this.#reply = reply;
    this.#prose = new Prose(reply);
    this.#mode = options.startsInThinking ? new Thinking(reply, profile.thinkingEnd) : new Lead(reply, false);
  }

  /** The number of characters visited so far, for tests of linearity. */
  get steps(): number {
    return this.#reply.steps;
  }

  get isHolding(): boolean {
    return this.#mode instanceof CallMode;
  }

  push(chunk: string): StreamEvent[] {
    if (chunk === '') return [];
    if (this.#begun !== undefined && this.#begun !== '') return [...this.#endBegun(), ...this.push(chunk)];
    const mode = this.#mode;
    if (mode === this.#prose && this.#prose.isPlain(chunk)) return [{ type: 'text', text: chunk }];
    if (mode instanceof Thinking && mode.isPlain(chunk)) return [{ type: 'thinking', text: chunk }];
    this.read(chunk);
    return this.#reply.sink.take();
  }

  /** A piece of thinking that the runner has separated itself. Calls at its end are reported when the reply is over. */
  pushThinking(chunk: string): StreamEvent[] {
    if (chunk === '') return [];
    // A runner that separates the thinking leaves none in the text, but perhaps blank lines before it.
    if (this.#reply.steps === 0) this.begin({ mode: 'blanks' });
    if (this.#begun === undefined) return this.#think(chunk);
    this.#begun += chunk;
    const mayBeTag = this.#begun.length < maxBegun && openTag.startsWith(this.#begun.trimEnd());
    return mayBeTag ? [] : this.#endBegun();
  }

  #endBegun(): StreamEvent[] {
    const begun = this.#begun ?? '';
    this.#begun = undefined;
    return this.#think(begun.startsWith(openTag) ? begun.slice(openTag.length).trimStart() : begun);
  }

  #think(text: string): StreamEvent[] {
    const { tools, thoughts } = this.#reply;
    if (text === '') return [];
    if (!tools.isEmpty) thoughts.read(text);
    return [{ type: 'thinking', text }];
  }

  /**
   * Ends the reply: gives back what was withheld, and reports what was left open. Nothing may be pushed afterwards.
   * What one mode gives back at the end may open another mode, so this repeats until the last one has nothing left.
   */
  finish(reason: StreamEnd = 'stop'): StreamEvent[] {
    const begun = this.#endBegun();
    let mode: Mode;
    do {
      mode = this.#mode;
      this.#hasReplayed = false;
      mode.finish(reason);
    } while (this.#mode !== mode || this.#hasReplayed);
    // A reply that ends while the model thinks, without being cut off, has no end of its thinking.
    this.#recover(reason === 'stop' && mode instanceof Thinking);
    return [...begun, ...this.#reply.sink.take()];
  }

  /** Calls at the end of the thinking, or within thinking that never ended, count if the model wrote nothing else. */
  #recover(neverEnded: boolean): void {
    const { shown, called, thoughts, sink } = this.#reply;
    if (called) return;
    for (const call of thoughts.finish(neverEnded)) {
      const message = `The model wrote a call of ${call.name} in its thinking and then an answer; it was not called.`;
      if (shown) sink.add({ type: 'warning', code: 'call-in-thinking', message });
      else sink.add({ type: 'toolCall', call, text: '', fromThinking: true });
    }
  }

  read(text: string): void {
    this.#hasReplayed = true;
    let at = 0;
    while (at < text.length) at = this.#mode.read(text, at);
  }

  begin(next: NextMode): void {
    this.#mode = this.#modeOf(next);
  }

  #modeOf(next: NextMode): Mode {
    const reply = this.#reply;
    switch (next.mode) {
      case 'prose':
        return this.#prose;
      case 'lead':
        if (next.afterCall) reply.called = true;
        return new Lead(reply, next.afterCall);
      case 'tag':
        return new TagMode(reply, next);
      case 'thinking':
        return new Thinking(reply, next.end);
      case 'blanks':
        return new Blanks(reply);
      case 'lineRest':
        return new LineRest(reply, next.after);
      case 'block':
        return new ContextBlock(reply, next.block);
      case 'call':
        return new CallMode(reply, next.start);
      case 'end':
        return new EndToken(reply, next.token);
      case 'channels':
        return new Channels(reply, next.header);
    }
  }
}

/** In thinking, and in a message, only calls in their tags count, and nothing else is separated. */
const messageProfile = perProfile((profile) => ({
  ...profile,
  thinkingTags: [],
  thinking: [],
  isReply: false,
  answer: [],
  resultTags: [],
  results: [],
}));

/**
 * A whole text without the thinking at its beginning, in any form that a stream may have. The first remaining line
 * keeps its indentation, and everything after it is unchanged. If the thinking never ends, nothing is left.
 */
export function afterLeadingThinking(text: string): string {
  const parser = new StreamParser();
  const events = [...parser.push(text), ...parser.finish()];
  const first = events.findIndex(({ type }) => type === 'text');
  const before = first < 0 ? events : events.slice(0, first);
  let start = before.reduce((length, event) => length + ('text' in event ? event.text.length : 0), 0);
  if (first < 0) return '';
  while (start > 0 && (text[start - 1] === ' ' || text[start - 1] === '\t')) start--;
  return text.slice(start);
}
