import { isBlank, less, openBrace, openBracket } from './characters.ts';
import type { OfferedTools } from './offeredTools.ts';
import { ValueReader } from './valueReader.ts';
import { XmlReader } from './xmlReader.ts';

/** One call, or one list of calls, in the text that a reader has read; indices count from where it began. */
export interface CallPiece {
  readonly kind: 'value' | 'xml' | 'pairs';
  readonly start: number;
  readonly end: number;
}

const xmlOpenings = new Map([
  ['<function=', '</function>'],
  ['<invoke name=', '</invoke>'],
]);

/**
 * Finds the end of a text that holds tool calls and blanks and nothing else, up to the close tag `close`, or
 * for as long as it comes where that is empty. It fails at the first character that cannot belong to a call.
 */
export class CallReader {
  failed = false;
  readonly pieces: CallPiece[] = [];
  readonly #tools: OfferedTools;
  readonly #close: string;
  #inner: ValueReader | XmlReader | undefined;
  #kind: CallPiece['kind'] = 'value';
  /** Characters read before this chunk, and where the current piece began. */
  #base = 0;
  #start = 0;
  #mark = '';
  /** The name before argument pairs, until it is complete. */
  #name: string | undefined = '';

  constructor(tools: OfferedTools, close: string) {
    this.#tools = tools;
    this.#close = close;
  }

  /** Whether what was read looked like a call before it failed. */
  get begun(): boolean {
    return this.pieces.length > 0 || this.#inner?.begun === true;
  }

  /** Whether it failed because a tool was not offered. */
  get isUnknown(): boolean {
    return this.#inner?.isUnknown === true;
  }

  /** Whether all that was read is whole calls, so that only a close tag can be missing. */
  get isWhole(): boolean {
    return !this.failed && this.#inner === undefined && this.pieces.length > 0 && this.#mark === '';
  }

  /** The index after the close tag, or that of the character which refutes it (`failed`), or -1 for more. */
  read(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      if (this.#inner !== undefined) at = this.#readInner(this.#inner, text, at, from);
      else if (this.#kind === 'pairs') at = this.#readPairs(text, at, from);
      else at = this.#readBetween(text, at, from);
      if (at < 0) break;
      if (this.failed || this.#ended) return at;
    }
    this.#base += text.length - from;
    return -1;
  }

  get #ended(): boolean {
    return this.#close !== '' && this.#mark === this.#close;
  }

  #readInner(inner: ValueReader | XmlReader, text: string, at: number, from: number): number {
    const end = inner.read(text, at);
    if (end < 0) return -1;
    this.failed = inner.failed;
    if (this.failed) return end;
    this.pieces.push({ kind: this.#kind, start: this.#start, end: this.#base + end - from });
    this.#inner = undefined;
    return end;
  }

  #readBetween(text: string, at: number, from: number): number {
    const code = text.charCodeAt(at);
    if (this.#mark !== '' || code === less || code === this.#close.charCodeAt(0))
      return this.#readMark(text, at, from);
    if (isBlank(code)) return at + 1;
    this.#start = this.#base + at - from;
    if (code === openBrace || code === openBracket) {
      this.#kind = 'value';
      this.#inner = new ValueReader(this.#tools);
      return at;
    }
    if (this.#close === '' || this.pieces.length > 0) return this.#readSeparator(text, at);
    this.#kind = 'pairs';
    return at;
  }

  /** Lists come with stray commas, semicolons and closing brackets; they mean nothing. */
  #readSeparator(text: string, at: number): number {
    this.failed = this.pieces.length === 0 || !',;]'.includes(text.charAt(at));
    return this.failed ? at : at + 1;
  }

  /** At a tag between calls: the close tag, or the open tag of an XML call. */
  #readMark(text: string, at: number, from: number): number {
    if (this.#mark === '') this.#start = this.#base + at - from;
    const mark = this.#mark + text.charAt(at);
    const close = xmlOpenings.get(mark);
    this.#mark = close === undefined ? mark : '';
    if (close !== undefined) {
      this.#kind = 'xml';
      this.#inner = new XmlReader(close, (name) => this.#tools.find(name) !== undefined);
      return at + 1;
    }
    const fits = [this.#close, ...xmlOpenings.keys()].some((literal) => literal.startsWith(mark));
    this.failed = !fits || (mark === this.#close && this.pieces.length === 0);
    return this.failed ? at : at + 1;
  }

  /** A name and `<arg_key>` pairs: up to the close tag. The name must be a tool's as far as it came. */
  #readPairs(text: string, at: number, from: number): number {
    const character = text.charAt(at);
    if (this.#name !== undefined) this.#readName(character);
    if (this.failed) return at;
    if (this.#close.startsWith(this.#mark + character)) this.#mark += character;
    else this.#mark = character === '<' ? '<' : '';
    if (this.#ended) {
      const end = this.#base + at + 1 - from - this.#close.length;
      this.pieces.push({ kind: 'pairs', start: this.#start, end });
    }
    return at + 1;
  }

  #readName(character: string): void {
    const name = this.#name ?? '';
    if (/[\s<]/.test(character)) {
      this.failed = this.#tools.find(name) === undefined;
      this.#name = undefined;
    } else {
      this.#name = name + character;
      this.failed = !this.#tools.mayBecome(this.#name);
    }
  }
}
