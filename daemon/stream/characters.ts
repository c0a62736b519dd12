export const newline = 10;
export const doubleQuote = 34;
export const singleQuote = 39;
export const openParenthesis = 40;
export const closeParenthesis = 41;
export const comma = 44;
export const slash = 47;
export const colon = 58;
export const space = 32;
export const less = 60;
export const greater = 62;
export const openBracket = 91;
export const backslash = 92;
export const closeBracket = 93;
export const tick = 96;
export const openBrace = 123;
export const closeBrace = 125;
export const tilde = 126;

/** White space as in Unicode and in the runner's own parsers, including no-break and ideographic spaces. */
export function isBlank(code: number): boolean {
  if (code <= 32) return code === 32 || (code >= 9 && code <= 13);
  if (code < 0x85) return false;
  if (code === 0x85 || code === 0xa0) return true;
  if (code < 0x1680) return false;
  return (
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff
  );
}

/** The index of the first character at or after `from` that is not blank, or the length of the text. */
export function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  return at;
}

/**
 * Pieces are joined whenever this many characters wait, because a string of a million tiny pieces takes much memory.
 */
const pageLength = 4096;

/** A text that grows by pieces, even by many tiny ones, and takes little more memory than its characters. */
export class LongText {
  #pages: string[] = [];
  #page = '';
  #length: number;

  constructor(text = '') {
    this.#page = text;
    this.#length = text.length;
  }

  get length(): number {
    return this.#length;
  }

  add(piece: string): void {
    this.#page += piece;
    this.#length += piece.length;
    if (this.#page.length < pageLength) return;
    // Reading one character makes the engine join the pieces and free them.
    this.#page.charCodeAt(0);
    this.#pages.push(this.#page);
    this.#page = '';
  }

  toString(): string {
    return this.#pages.length === 0 ? this.#page : this.#pages.join('') + this.#page;
  }
}
