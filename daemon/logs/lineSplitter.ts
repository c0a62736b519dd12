import { StringDecoder } from 'node:string_decoder';

/** How much of a line is kept, in characters (UTF-16 units). */
export const maxLineLength = 8192;

/** A line without its line end. If the line is longer than what is kept, `text` is only its beginning. */
export interface SplitLine {
  readonly text: string;
  /** The length of the whole line, in characters. */
  readonly length: number;
}

/**
 * Cuts bytes into lines at LF or CRLF, however the pieces are split, in linear time. Characters that are split between
 * pieces are joined. At most {@link maxLineLength} characters of a line are ever held.
 */
export class LineSplitter {
  readonly #onLine: (line: SplitLine) => void;
  #decoder = new StringDecoder('utf8');
  #kept = '';
  #length = 0;
  #endsWithCr = false;

  constructor(onLine: (line: SplitLine) => void) {
    this.#onLine = onLine;
  }

  write(piece: Buffer): void {
    this.#take(this.#decoder.write(piece));
  }

  /** Passes on the rest as a last line. What is written later begins a new line. */
  end(): void {
    this.#take(this.#decoder.end());
    this.#decoder = new StringDecoder('utf8');
    if (this.#length > 0) this.#finishLine();
  }

  #take(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      this.#carry(text.slice(start, end));
      this.#finishLine();
      start = end + 1;
    }
    this.#carry(text.slice(start));
  }

  #carry(part: string): void {
    if (part === '') return;
    const room = maxLineLength - this.#kept.length;
    if (room > 0) this.#kept += part.slice(0, room);
    this.#length += part.length;
    this.#endsWithCr = part.endsWith('\r');
  }

  #finishLine(): void {
    const length = this.#length - (this.#endsWithCr ? 1 : 0);
    this.#onLine({ text: withoutHalfCharacter(this.#kept.slice(0, length)), length });
    this.#kept = '';
    this.#length = 0;
    this.#endsWithCr = false;
  }
}

/** The cut may split a surrogate pair, and half of a pair is not a character. */
function withoutHalfCharacter(text: string): string {
  return text.length === maxLineLength && /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
