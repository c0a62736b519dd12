import { doubleQuote, greater, less, singleQuote, slash } from './characters.ts';

/** Longer text is not a tag. Paths in attributes fit, and an unclosed quote does not withhold a whole answer. */
const longestTag = 4096;

/** Reads the attributes of a tag up to the `>` that ends it. Quoted values may contain `>` and `<`. */
export class TagEnd {
  /** True if the characters turned out not to be a tag. */
  failed = false;
  selfClosing = false;
  #quote = 0;
  #last = 0;
  #length = 0;

  /** The index after the tag, or the index of the character that refutes it (`failed`), or -1 if more is needed. */
  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (++this.#length > longestTag || (code === less && this.#quote === 0)) {
        this.failed = true;
        return at;
      }
      if (code === greater && this.#quote === 0) {
        this.selfClosing = this.#last === slash;
        return at + 1;
      }
      this.#step(code);
    }
    return -1;
  }

  #step(code: number): void {
    this.#last = code;
    if (this.#quote !== 0) {
      if (code === this.#quote) this.#quote = 0;
    } else if (code === doubleQuote || code === singleQuote) {
      this.#quote = code;
    }
  }
}
