import { isBlank } from './characters.ts';

/**
 * How the forms of calls are read: as if the whole reply were there, with a `yield` wherever it is not yet. So a form
 * is one function that both finds the end of a call and takes it apart, and cannot depend on how the reply was cut.
 */
export type Reading<Value> = Generator<undefined, Value, undefined>;

/** What `code` is when the reply is over. */
export const over = -1;

/** A value that passes by the close tag of its call may go on for so many characters; then it is no value. */
const longestDoubt = 4096;

/** No call has more objects, lists, entries and parameters, and no block more calls: each takes memory beyond its text. */
const mostParts = 50_000;

/** Why what is read is no call. `mention`: nothing like a call was begun. */
export type RefusalReason = 'mention' | 'unknown' | 'malformed' | 'cut';

/** Thrown by readers, and never beyond the one who drives them. */
export class Refusal {
  readonly reason: RefusalReason;
  /** Where what is no call begins, if it is not where the source stands. */
  readonly at: number | undefined;

  constructor(reason: RefusalReason, at?: number) {
    this.reason = reason;
    this.at = at;
  }
}

/** The characters of a call, as far as they came. Each is read once, but for the few after a doubt. */
export class Source {
  /** Where the next character is in the piece, and where what may be read of the piece ends. */
  at = 0;
  /** Nothing comes after the piece. */
  ended = false;
  readonly #close: string;
  #text = '';
  #end = 0;
  /** Characters before the piece, less where reading it began. */
  #base = 0;
  #doubtEnd = Number.POSITIVE_INFINITY;
  /** Since here no value has ended. */
  #settled = 0;
  /** The last characters of the pieces before, which may begin a close tag. */
  #tail = '';
  /** Where the first close tag after `#settled` ends, or how far there is none. */
  #closeEnd: number | undefined;
  #searched = 0;
  #parts = 0;

  /** `close` is the tag that ends the whole: a value that holds it is in doubt. */
  constructor(close: string) {
    this.#close = close;
  }

  /** How many characters have been read. */
  get offset(): number {
    return this.#base + this.at;
  }

  get isDry(): boolean {
    return this.at >= this.#end && !(this.ended && this.at >= this.#text.length);
  }

  /** Whether a value went on for too long after it had passed by a close tag. */
  get isLost(): boolean {
    return this.offset >= this.#doubtEnd;
  }

  /** The next character, or `over`. To be asked only while the source is not dry. */
  get code(): number {
    return this.at < this.#end ? this.#text.charCodeAt(this.at) : over;
  }

  get character(): string {
    return this.at < this.#end ? this.#text.charAt(this.at) : '';
  }

  /** One object, list, entry, parameter or call more. */
  countPart(): void {
    this.#parts++;
    if (this.#parts > mostParts) throw new Refusal('malformed');
  }

  feed(text: string, from: number): void {
    if (this.#close !== '') this.#tail = (this.#tail + this.#text).slice(-this.#close.length);
    this.#base = this.offset - from;
    this.#text = text;
    this.at = from;
    this.#findClose();
    this.#limit();
  }

  /** From here on too much may not follow before a value ends. */
  doubt(): void {
    this.#doubtEnd = Math.min(this.#doubtEnd, this.offset + longestDoubt);
    this.#limit();
  }

  /** A value has ended as it should: what looked like the end of the call was part of it. */
  settle(): void {
    this.#settled = this.offset;
    this.#doubtEnd = Number.POSITIVE_INFINITY;
    if (this.#closeEnd !== undefined && this.#closeEnd - this.#close.length < this.#settled) {
      this.#closeEnd = undefined;
      this.#findClose();
    }
    this.#limit();
  }

  /** The characters up to the first for which `isStop` holds, as far as they have come. */
  takeUntil(isStop: (code: number) => boolean): string {
    const from = this.at;
    let at = from;
    while (at < this.#end && !isStop(this.#text.charCodeAt(at))) at++;
    this.at = at;
    return this.#text.slice(from, at);
  }

  #limit(): void {
    const doubtEnd =
      this.#closeEnd === undefined ? this.#doubtEnd : Math.min(this.#doubtEnd, this.#closeEnd + longestDoubt);
    this.#doubtEnd = doubtEnd;
    this.#end = Math.max(this.at, Math.min(this.#text.length, doubtEnd - this.#base));
  }

  /** Looks for the close tag from where nobody has looked yet; a tag may begin in the piece before. */
  #findClose(): void {
    if (this.#close === '' || this.#closeEnd !== undefined) return;
    const from = Math.max(this.#settled, this.#searched, this.#base - this.#tail.length);
    const joined = from < this.#base ? this.#tail.slice(from - this.#base) : '';
    const text = joined + this.#text.slice(Math.max(0, from - this.#base));
    const found = text.indexOf(this.#close);
    if (found >= 0) this.#closeEnd = from + found + this.#close.length;
    else this.#searched = Math.max(from, from + text.length - this.#close.length + 1);
  }
}

/** Skips white space, and gives the character after it. */
export function* skipBlanks(source: Source): Reading<number> {
  for (;;) {
    while (source.isDry) yield;
    const { code } = source;
    if (code === over || !isBlank(code)) return code;
    source.at++;
  }
}

/** Takes white space, and gives it. */
export function* takeBlanks(source: Source): Reading<string> {
  let blanks = '';
  for (;;) {
    while (source.isDry) yield;
    if (source.code === over || !isBlank(source.code)) return blanks;
    blanks += source.takeUntil((code) => !isBlank(code));
  }
}

/** The next character, once it has come. */
export function* peek(source: Source): Reading<number> {
  while (source.isDry) yield;
  return source.code;
}

/** Takes characters up to one for which `isStop` holds; it refuses what is longer than `longest`. */
export function* takeWord(
  source: Source,
  isStop: (code: number) => boolean,
  longest: number,
): Reading<string> {
  let word = '';
  for (;;) {
    while (source.isDry) yield;
    if (source.code === over || isStop(source.code)) return word;
    word += source.character;
    source.at++;
    if (word.length > longest) throw new Refusal('mention');
  }
}
