import { isBlank, less } from './characters.ts';
import { isRecord } from './coerce.ts';
import { tryParseValue } from './forms/values.ts';
import { LongText } from './longText.ts';
import type { Mode, Scan } from './scan.ts';

/** The tags of the harmony format, in which a reply is a sequence of messages, each with a header and a channel. */
const tags = [
  '<|start|>',
  '<|channel|>',
  '<|constrain|>',
  '<|message|>',
  '<|end|>',
  '<|call|>',
  '<|return|>',
];
/** A longer header is none. */
const longestHeader = 256;

type Body = 'thinking' | 'text' | { readonly tool: string };

/**
 * A reply in channels: `analysis` is thinking, a message to a tool that was offered is a call, everything else is the
 * answer. Headers and tags are markup; a tag that only looks like one is text. A reply that begins like this stays
 * like this.
 */
export class Channels implements Mode {
  readonly #scan: Scan;
  /** What may be a tag. */
  #tag = '';
  /** A header as it came, or undefined outside of one. */
  #header: string | undefined;
  #body: Body | undefined;
  /** The whole message of a call, and where its arguments begin. */
  #source = new LongText();
  #argumentsStart = 0;
  /** The header of the message was shown, so that its end is too. */
  #isShownWhole = false;

  constructor(scan: Scan) {
    this.#scan = scan;
  }

  begin(header: string): void {
    const isWhole = header.endsWith('<|message|>');
    this.#tag = '';
    this.#header = isWhole ? undefined : header;
    this.#body = isWhole ? 'text' : undefined;
    if (isWhole) this.#scan.sink.markup(header);
  }

  read(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      const next = this.#tag === '' ? this.#readRun(text, at) : this.#readTag(text, at);
      this.#scan.steps += next - at + 1;
      at = next;
      if (this.#header !== undefined && this.#header.length > longestHeader) return this.#refuse(at);
    }
    return at;
  }

  finish(): void {
    this.#put(this.#tag);
    this.#tag = '';
    if (this.#header !== undefined) this.#scan.giveBack(this.#header);
    else if (typeof this.#body === 'object') this.#endCall(this.#body.tool, '');
  }

  #readRun(text: string, from: number): number {
    if (text.charCodeAt(from) === less) {
      this.#tag = '<';
      return from + 1;
    }
    // A header is read by the character, so that where it becomes too long does not depend on how it was cut.
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
    if (this.#header !== undefined && isEnd(tag)) this.#showHeader(tag);
    else if (this.#header !== undefined) this.#inHeader(tag);
    else if (tag === '<|start|>' || tag === '<|channel|>') {
      this.#end('');
      this.#header = tag;
    } else if (this.#body === undefined) {
      this.#scan.sink.markup(tag);
    } else if (tag === '<|message|>' || tag === '<|constrain|>') {
      this.#put(tag);
    } else this.#end(tag);
  }

  #inHeader(tag: string): void {
    const header = (this.#header ?? '') + tag;
    this.#header = tag === '<|message|>' ? undefined : header;
    if (tag !== '<|message|>') return;
    this.#body = this.#bodyOf(header);
    if (this.#body === undefined) return;
    if (typeof this.#body === 'object') {
      this.#source = new LongText(header);
      this.#argumentsStart = header.length;
    } else this.#scan.sink.markup(header);
  }

  /** What a header leads to; one that holds words, or calls a tool that nobody offered, is text like what follows it. */
  #bodyOf(header: string): Body | undefined {
    const recipient = recipientOf(header);
    const tool = recipient === undefined ? undefined : this.#scan.tools.find(recipient)?.name;
    const isHeader = headerPattern.test(header);
    if (tool !== undefined && isHeader) return { tool };
    if (isHeader && (recipient === undefined || isRole(recipient)))
      return /<\|channel\|>\s*analysis\b/.test(header) ? 'thinking' : 'text';
    if (recipient !== undefined && tool === undefined) this.#warnOfUnknown(recipient);
    this.#body = 'text';
    this.#isShownWhole = true;
    this.#show(header);
    return undefined;
  }

  /** A header that ends without a message was none. */
  #showHeader(tag: string): void {
    const header = this.#header ?? '';
    this.#header = undefined;
    this.#body = 'text';
    this.#show(header);
    this.#end(tag);
  }

  #warnOfUnknown(name: string): void {
    const message = `The model called ${JSON.stringify(name)}, a tool that was not offered; it is shown as text.`;
    this.#scan.sink.add({ type: 'warning', code: 'unknown-tool', message });
  }

  /** Text where it stands: in a header, in a message, or between two. */
  #put(text: string): void {
    if (text === '') return;
    if (this.#header !== undefined) this.#header += text;
    else if (typeof this.#body === 'object') this.#source.add(text);
    else if (this.#body === 'thinking') this.#think(text);
    else if (this.#body === 'text') this.#show(text);
    else this.#putBetween(text);
  }

  #think(text: string): void {
    this.#scan.sink.thinking(text);
    if (this.#scan.tools.offered) this.#scan.thoughts.read(text);
  }

  /** White space between messages means nothing; a message without a header is the answer. */
  #putBetween(text: string): void {
    let at = 0;
    while (at < text.length && isBlank(text.charCodeAt(at))) at++;
    this.#scan.sink.markup(text.slice(0, at));
    if (at === text.length) return;
    this.#body = 'text';
    this.#show(text.slice(at));
  }

  #show(text: string): void {
    this.#scan.shown = true;
    this.#scan.giveBack(text);
  }

  #end(tag: string): void {
    if (typeof this.#body === 'object') this.#endCall(this.#body.tool, tag);
    else if (this.#isShownWhole) this.#show(tag);
    else this.#scan.sink.markup(tag);
    this.#isShownWhole = false;
    this.#scan.thought ||= this.#body === 'thinking';
    this.#body = undefined;
  }

  #endCall(name: string, tag: string): void {
    const source = this.#source.toString();
    const given = tryParseValue(source.slice(this.#argumentsStart).trim() || '{}');
    if (isRecord(given)) {
      this.#scan.sink.add({ type: 'toolCall', call: { name, arguments: given }, text: source + tag });
      this.#scan.called = true;
      return;
    }
    const message = 'The model wrote a tool call that cannot be read; it is shown as text.';
    this.#scan.sink.add({ type: 'warning', code: 'malformed-tool-call', message });
    this.#show(source + tag);
  }

  #refuse(at: number): number {
    this.#scan.giveBack((this.#header ?? '') + this.#tag);
    this.#header = undefined;
    this.#scan.toProse();
    return at;
  }
}

/** A role, a recipient, a channel and the type of the content, and no other words. */
const headerPattern =
  /^\s*(?:<\|start\|>\s*(?:assistant|user|system|developer|tool|functions\.[\w.:-]+)?\s*(?:to=[^\s<]+)?\s*)?(?:<\|channel\|>\s*(?:analysis|commentary|final)?\s*(?:to=[^\s<]+)?\s*(?:<\|constrain\|>)?\s*(?:json|code|text)?\s*)?<\|message\|>$/;

function recipientOf(header: string): string | undefined {
  return /\bto=([^\s<]+)/.exec(header)?.[1];
}

/** A message may go to those who take part. */
function isRole(name: string): boolean {
  return /^(?:user|assistant|all|self)$/.test(name);
}

function isEnd(tag: string): boolean {
  return tag === '<|end|>' || tag === '<|call|>' || tag === '<|return|>';
}
