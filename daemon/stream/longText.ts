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
