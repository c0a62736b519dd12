/** Finds the end of a block that is closed by the first close mark. */
export class MarkReader {
  readonly #close: string;
  #matched = '';

  constructor(close: string) {
    this.#close = close;
  }

  /** How many of the last characters may be the beginning of the mark. */
  get begun(): number {
    return this.#matched.length;
  }

  /** The index after the mark, or -1 if the mark has not come in this text. */
  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const longer = this.#matched + text.charAt(at);
      // The first character of a mark does not occur again in the mark.
      if (this.#close.startsWith(longer)) this.#matched = longer;
      else this.#matched = this.#close.startsWith(text.charAt(at)) ? text.charAt(at) : '';
      if (this.#matched.length === this.#close.length) return at + 1;
    }
    return -1;
  }
}
