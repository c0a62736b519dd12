import { StringDecoder } from 'node:string_decoder';

/** What is kept of a line, in characters (UTF-16 units). */
export const maxLineLength = 8192;

/** A line without its end; `text` is its beginning where it is longer than is kept. */
export interface SplitLine {
  readonly text: string;
  /** Characters of the whole line. */
  readonly length: number;
}

/**
 * Cuts bytes into lines at LF or CRLF, however they are split, in linear time. Characters that are cut between pieces
 * are put together, and of a line no more than {@link maxLineLength} characters are ever held.
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

  /** Gives out what is left as a last line; what is written later begins a new one. */
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

/** The cut may go through a surrogate pair, whose half is no character. */
function withoutHalfCharacter(text: string): string {
  return text.length === maxLineLength && /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
