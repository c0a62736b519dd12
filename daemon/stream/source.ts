import { isBlank } from './characters.ts';

/**
 * How a form of a call is read: as if the whole reply were there, with a `yield` wherever the next character has not
 * come yet. So a form is one function that both finds the end of a call and parses it, and its result cannot depend on
 * how the reply was cut.
 */
export type Reading<Value> = Generator<undefined, Value, undefined>;

/** The value of `code` when the reply is over. */
export const over = -1;

/** The most characters by which a value may continue after the close tag of its call. Beyond that it is not a value. */
const maxDoubt = 4096;

/**
 * The most objects, lists, entries and parameters of a call, and the most calls of a block. Each takes memory beyond
 * its text.
 */
const maxParts = 50_000;

/** Why the text is not a call. `mention`: it did not even begin like a call. */
export type RefusalReason = 'mention' | 'unknown' | 'malformed' | 'cut';

/**
 * Thrown by a form at text that is not a call. The code that drives the forms always catches it, so it needs no stack
 * and is not an `Error`.
 */
export class CallRefusal {
  constructor(
    readonly reason: RefusalReason,
    /** The offset at which the text that is not a call begins, if that is not the current offset. */
    readonly at?: number,
  ) {}
}

/** The characters of a call that have come so far. Each is read once, except for the few after a doubt. */
export class Source {
  /** The index of the next character in the piece. */
  at = 0;
  /** Whether the piece is the last one. */
  ended = false;
  #text = '';
  #end = 0;
  /** The number of characters before the piece, minus the index at which reading of the piece began. */
  #base = 0;
  #doubtEnd = Number.POSITIVE_INFINITY;
  /** The offset since which no value has ended. */
  #settled = 0;
  /** The last characters of earlier pieces, which may begin a close tag. */
  #tail = '';
  /** The end of the first close tag after `#settled`; undefined if there is none up to `#searched`. */
  #closeEnd: number | undefined;
  #searched = 0;
  #parts = 0;

  /** `close` is the tag that ends the whole block. A value that contains it is in doubt. */
  constructor(private readonly close: string) {}

  /** How many characters have been read. */
  get offset(): number {
    return this.#base + this.at;
  }

  get isDry(): boolean {
    return this.at >= this.#end && !(this.ended && this.at >= this.#text.length);
  }

  /** Whether a value went on for too long after a close tag. */
  get isLost(): boolean {
    return this.offset >= this.#doubtEnd;
  }

  /** The next character, or `over`. Callers must check first that the source is not dry. */
  get code(): number {
    return this.at < this.#end ? this.#text.charCodeAt(this.at) : over;
  }

  get character(): string {
    return this.at < this.#end ? this.#text.charAt(this.at) : '';
  }

  /** Counts one more object, list, entry, parameter or call. */
  countPart(): void {
    this.#parts++;
    if (this.#parts > maxParts) throw new CallRefusal('malformed');
  }

  feed(text: string, from: number): void {
    if (this.close !== '') this.#tail = (this.#tail + this.#text).slice(-this.close.length);
    this.#base = this.offset - from;
    this.#text = text;
    this.at = from;
    this.#findClose();
    this.#limit();
  }

  /** From here on a value must end soon. */
  doubt(): void {
    this.#doubtEnd = Math.min(this.#doubtEnd, this.offset + maxDoubt);
    this.#limit();
  }

  /** A value has ended properly, so what looked like the end of the call was part of the value. */
  settle(): void {
    this.#settled = this.offset;
    this.#doubtEnd = Number.POSITIVE_INFINITY;
    if (this.#closeEnd !== undefined && this.#closeEnd - this.close.length < this.#settled) {
      this.#closeEnd = undefined;
      this.#findClose();
    }
    this.#limit();
  }

  /** Takes at most `most` characters, up to the first for which `isStop` is true, as far as they have come. */
  takeUntil(isStop: (code: number) => boolean, most = Number.POSITIVE_INFINITY): string {
    const from = this.at;
    const end = Math.min(this.#end, from + most);
    let at = from;
    while (at < end && !isStop(this.#text.charCodeAt(at))) at++;
    this.at = at;
    return this.#text.slice(from, at);
  }

  #limit(): void {
    const doubtEnd =
      this.#closeEnd === undefined ? this.#doubtEnd : Math.min(this.#doubtEnd, this.#closeEnd + maxDoubt);
    this.#doubtEnd = doubtEnd;
    this.#end = Math.max(this.at, Math.min(this.#text.length, doubtEnd - this.#base));
  }

  /** Looks for the close tag in the part that was not searched yet. The tag may begin in the previous piece. */
  #findClose(): void {
    if (this.close === '' || this.#closeEnd !== undefined) return;
    const from = Math.max(this.#settled, this.#searched, this.#base - this.#tail.length);
    const joined = from < this.#base ? this.#tail.slice(from - this.#base) : '';
    const text = joined + this.#text.slice(Math.max(0, from - this.#base));
    const found = text.indexOf(this.close);
    if (found >= 0) this.#closeEnd = from + found + this.close.length;
    else this.#searched = Math.max(from, from + text.length - this.close.length + 1);
  }
}

/** Skips white space and returns the character after it. */
export function* skipBlanks(source: Source): Reading<number> {
  for (;;) {
    while (source.isDry) yield;
    const { code } = source;
    if (code === over || !isBlank(code)) return code;
    source.at++;
  }
}

/** Takes white space and returns it. */
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

/** Takes characters up to the first for which `isStop` is true. Refuses more than `longest` characters. */
export function* takeWord(
  source: Source,
  isStop: (code: number) => boolean,
  longest: number,
  reason: RefusalReason = 'mention',
): Reading<string> {
  let word = '';
  for (;;) {
    while (source.isDry) yield;
    word += source.takeUntil(isStop, longest + 1 - word.length);
    if (word.length > longest) throw new CallRefusal(reason);
    if (!source.isDry) return word;
  }
}

/** Takes as much of a literal as comes here, and returns it. */
export function* takeLiteral(source: Source, literal: string): Reading<string> {
  for (let length = 0; length < literal.length; length++) {
    while (source.isDry) yield;
    if (source.character !== literal.charAt(length)) return literal.slice(0, length);
    source.at++;
  }
  return literal;
}

/** Distinguishes text that is cut off from text that is wrong. */
export function refuse(source: Source): never {
  throw new CallRefusal(source.code === over ? 'cut' : 'malformed');
}
