import { backslash, doubleQuote, LongText, less, skipBlanks } from './characters.ts';
import type { StreamEvent } from './events.ts';
import { tryParseValue } from './forms/values.ts';
import type { Mode, Reply } from './reply.ts';
import { isRecord } from './requestTools.ts';

/**
 * The tags of the harmony format, and of muse and glimmer. In them, a reply is a sequence of messages, each with a
 * header that names a channel or a recipient.
 */
const tags = 'start channel constrain message end call return eom eot'
  .split(' ')
  .map((name) => `<|${name}|>`);
/** Longer text is not a header. */
const maxHeaderLength = 256;
const endPattern = /^<\|(?:end|call|return|eom|eot)\|>$/;
/** A message may be addressed to a participant. */
const participants = new Set(['user', 'assistant', 'all', 'self']);
/** After that many tags in the strings of a call, tags have their meaning again. */
const maxTagsInStrings = 16;

/** A `message` is an answer that may hold calls of its own. */
type Body = 'thinking' | 'text' | 'message' | { readonly tool: string };

/**
 * A reply in channels. `analysis` is thinking, a message to an offered tool is a call, and everything else is the
 * answer. Headers and tags are markup; text that only looks like a tag is text. A reply that begins in channels stays
 * in channels.
 */
export class Channels implements Mode {
  /** The text that may be a tag. */
  #tag = '';
  /** The current header as it came; undefined outside of a header. */
  #header: string | undefined;
  #body: Body | undefined;
  /** The whole message of a call, and the offset at which its arguments begin. */
  #source = new LongText();
  #argumentsStart = 0;
  #openString = new OpenString();
  #message: ReturnType<Reply['thoughts']['createParser']> | undefined;
  /** How many tags in the current arguments came within a string, and where the first of them begins. */
  #tagsInStrings = 0;
  #firstTagInString: number | undefined;
  /** Whether the reply has left its channels, so that the rest is prose. */
  #isLeft = false;
  /** Whether the header of the message was shown as text: then its end tag is shown too. */
  #isShownWhole = false;

  constructor(
    private readonly reply: Reply,
    header: string,
  ) {
    const isWhole = header.endsWith('<|message|>');
    this.#header = isWhole ? undefined : header;
    this.#body = isWhole ? this.#beginMessage() : undefined;
    if (isWhole) reply.sink.markup(header);
  }

  read(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      const next = this.#tag === '' ? this.#readRun(text, at) : this.#readTag(text, at);
      this.reply.visit(next - at + 1);
      at = next;
      // What a call gave back may have ended the channels.
      if (this.#isLeft) return at;
      if (this.#header !== undefined && !mayBeHeader(this.#header)) {
        this.#refuse(this.#header);
        return at;
      }
    }
    return at;
  }

  finish(): void {
    this.#put(this.#tag);
    this.#tag = '';
    if (this.#header !== undefined) this.reply.giveBack(this.#header);
    else if (typeof this.#body === 'object' && !this.#tryAgain('')) this.#endCall(this.#body.tool, '');
    else this.#endMessage();
  }

  #readRun(text: string, from: number): number {
    if (text.charCodeAt(from) === less) {
      this.#tag = '<';
      return from + 1;
    }
    // A header is read character by character, so that the cuts do not change where it becomes too long.
    const found = this.#header === undefined ? text.indexOf('<', from) : from + 1;
    const end = found < 0 ? text.length : found;
    this.#put(text.slice(from, end));
    return end;
  }

  #readTag(text: string, at: number): number {
    const longer = this.#tag + text.charAt(at);
    if (!tags.some((tag) => tag.startsWith(longer))) {
      this.#put(this.#tag);
      this.#tag = '';
      return at;
    }
    this.#tag = tags.includes(longer) ? '' : longer;
    if (this.#tag === '') this.#takeTag(longer);
    return at + 1;
  }

  #takeTag(tag: string): void {
    if (typeof this.#body === 'object' && this.#isInString()) return this.#put(tag);
    if (this.#message?.isHolding === true) return this.#put(tag);
    const header = this.#header;
    if (header !== undefined && endPattern.test(tag)) this.#showHeader(header, tag);
    else if (header !== undefined) this.#inHeader(header + tag, tag);
    else if (tag === '<|start|>' || tag === '<|channel|>') {
      if (this.#tryAgain(tag)) return;
      this.#end('');
      this.#header = tag;
    } else if (this.#body === undefined) {
      this.reply.sink.markup(tag);
    } else if (tag === '<|message|>' || tag === '<|constrain|>') {
      this.#put(tag);
    } else if (!this.#tryAgain(tag)) this.#end(tag);
  }

  /** Whether the arguments so far end within a string, so that a tag is part of the string. */
  #isInString(): boolean {
    if (!this.#openString.isOpen || this.#tagsInStrings >= maxTagsInStrings) return false;
    this.#tagsInStrings++;
    // With a quote that nobody escaped, whole arguments look like an open string.
    if (isRecord(this.#readArguments())) return false;
    this.#firstTagInString ??= this.#source.length;
    return true;
  }

  /**
   * If the arguments cannot be read, a string in them did not end. Then everything from the first tag in a string is
   * read again, and tags have their meaning.
   */
  #tryAgain(tag: string): boolean {
    const first = this.#firstTagInString;
    if (typeof this.#body !== 'object' || first === undefined || isRecord(this.#readArguments()))
      return false;
    const text = this.#source.toString() + tag;
    this.#source = new LongText(text.slice(0, first));
    this.#firstTagInString = undefined;
    this.#tagsInStrings = maxTagsInStrings;
    this.reply.replay(text.slice(first));
    return true;
  }

  #readArguments(): unknown {
    this.reply.visit(this.#source.length);
    const given = this.#source.toString().slice(this.#argumentsStart).trim();
    return given === '' ? {} : given.endsWith('}') ? tryParseValue(given) : undefined;
  }

  /** `tag` is the end of the header so far. */
  #inHeader(header: string, tag: string): void {
    this.#header = tag === '<|message|>' ? undefined : header;
    if (tag !== '<|message|>') return;
    this.#body = this.#bodyOf(header);
    if (this.#body === undefined) return;
    if (typeof this.#body === 'object') {
      this.#source = new LongText(header);
      this.#argumentsStart = header.length;
      this.#openString = new OpenString();
      this.#tagsInStrings = 0;
      this.#firstTagInString = undefined;
    } else this.reply.sink.markup(header);
  }

  /**
   * What follows a header. A message to a tool that was not offered is text. A header with other words is text too.
   */
  #bodyOf(header: string): Body | undefined {
    const recipient = /\bto=([^\s<]+)/.exec(header)?.[1];
    const tool = recipient === undefined ? undefined : this.reply.tools.find(recipient)?.name;
    const isHeader = headerPattern.test(header);
    if (tool !== undefined && isHeader) return { tool };
    const isCall = recipient !== undefined && !participants.has(recipient);
    if (isCall && tool === undefined) this.#warnOfUnknown(recipient);
    if (isHeader && !header.includes('<|channel|>'))
      return recipient === 'self' ? 'thinking' : this.#beginMessage();
    if (isHeader) return !isCall && /<\|channel\|>\s*analysis\b/.test(header) ? 'thinking' : 'text';
    this.#body = 'text';
    this.#isShownWhole = true;
    this.#show(header);
    return undefined;
  }

  /** A header that ends without a message was not a header. */
  #showHeader(header: string, tag: string): void {
    this.#header = undefined;
    this.#body = 'text';
    this.#show(header);
    this.#end(tag);
  }

  #warnOfUnknown(name: string): void {
    const message = `The model called ${JSON.stringify(name)}, a tool that was not offered; it is shown as text.`;
    this.reply.sink.add({ type: 'warning', code: 'unknown-tool', message });
  }

  /** Adds text to the current header or message, or puts it between two messages. */
  #put(text: string): void {
    if (text === '') return;
    if (this.#header !== undefined) this.#header += text;
    else if (this.#message !== undefined) this.#relay(this.#message.push(text));
    else if (typeof this.#body === 'object' && !this.#isElement(text)) {
      this.#source.add(text);
      this.#openString.add(text);
    } else if (typeof this.#body === 'object') {
      this.reply.sink.markup(this.#source.toString());
      this.#body = this.#beginMessage();
      this.#put(text);
    } else if (this.#body === 'thinking') this.#think(text);
    else if (this.#body === 'text') this.#show(text);
    else this.#putBetween(text);
  }

  /** Whether the arguments of a call begin with an element, and not with an object. */
  #isElement(text: string): boolean {
    return text.startsWith('<') && this.#source.toString().slice(this.#argumentsStart).trim() === '';
  }

  #beginMessage(): Body {
    this.#message = this.reply.thoughts.createParser();
    return 'message';
  }

  #relay(events: readonly StreamEvent[]): void {
    for (const event of events) {
      if (event.type === 'text') this.#show(event.text);
      else if (event.type === 'markup') this.reply.sink.markup(event.text);
      else this.reply.sink.add(event);
      if (event.type === 'toolCall') this.reply.called = true;
    }
  }

  #endMessage(): void {
    const message = this.#message;
    this.#message = undefined;
    if (message === undefined) return;
    this.#relay(message.finish());
    this.reply.visit(message.steps);
  }

  #think(text: string): void {
    this.reply.sink.thinking(text);
    if (!this.reply.tools.isEmpty) this.reply.thoughts.read(text);
  }

  /** White space between messages has no meaning. Text without a header is the answer. */
  #putBetween(text: string): void {
    const at = skipBlanks(text, 0);
    this.reply.sink.markup(text.slice(0, at));
    if (at === text.length) return;
    this.#body = 'text';
    this.#show(text.slice(at));
  }

  #show(text: string): void {
    this.reply.shown = true;
    this.reply.giveBack(text);
  }

  #end(tag: string): void {
    this.#endMessage();
    if (typeof this.#body === 'object') this.#endCall(this.#body.tool, tag);
    else if (this.#isShownWhole) this.#show(tag);
    else this.reply.sink.markup(tag);
    this.#isShownWhole = false;
    if (this.#body === 'thinking') this.reply.thought = true;
    this.#body = undefined;
  }

  #endCall(name: string, tag: string): void {
    const given = this.#readArguments();
    const source = this.#source.toString();
    if (isRecord(given)) {
      this.reply.sink.add({ type: 'toolCall', call: { name, arguments: given }, text: source + tag });
      this.reply.called = true;
      return;
    }
    const message = 'The model wrote a tool call that cannot be read; it is shown as text.';
    this.reply.sink.add({ type: 'warning', code: 'malformed-tool-call', message });
    this.#show(source + tag);
  }

  #refuse(header: string): void {
    this.reply.giveBack(header + this.#tag);
    this.#header = undefined;
    this.#isLeft = true;
    this.reply.enterProse();
  }
}

/** A role, a recipient, a channel and a content type, and no other words. */
const headerPattern =
  /^\s*(?:<\|start\|>\s*(?:assistant|user|system|developer|tool|functions\.[\w.:-]+)?\s*)?(?:to=[^\s<]+)?\s*(?:<\|channel\|>\s*(?:analysis|commentary|final)?\s*(?:to=[^\s<]+)?\s*(?:<\|constrain\|>)?\s*(?:json|code|text)?\s*)?<\|message\|>$/;

/** A header that the template has begun is a recipient, and no other words before its tag. */
function mayBeHeader(header: string): boolean {
  return header.length <= maxHeaderLength && !/^\s*to=(?:[^\s<]*\s+[^\s<]|[^\w.])/.test(header);
}

/** Finds, piece by piece, whether the start of a JSON text ends within a string. */
class OpenString {
  isOpen = false;
  #isEscaped = false;

  add(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === doubleQuote) this.isOpen = !this.isOpen;
      else if (code === backslash && this.isOpen) this.#isEscaped = true;
    }
  }
}
