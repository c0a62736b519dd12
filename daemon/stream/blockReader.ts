import { less, slash } from './characters.ts';
import { endsName } from './openings.ts';
import { TagEnd } from './tagEnd.ts';

/** Which tag the characters so far may be. After the `<` alone it is undecided. */
type Candidate = 'none' | 'either' | 'open' | 'close';

/** Finds the end of an element whose open tag has been read. Elements of the same name may nest inside it. */
export class BlockReader {
  readonly #name: string;
  #depth = 1;
  #candidate: Candidate = 'none';
  /** How many characters of the name have matched. */
  #matched = 0;
  /** How many of the last characters may be the beginning of a tag of this name. */
  begun = 0;
  #inTag: TagEnd | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** The index after the element's close tag, or -1 if the tag has not come in this text. */
  read(text: string, from: number): number {
    let at = from;
    while (at >= 0 && at < text.length && this.#depth > 0) {
      if (this.#inTag !== undefined) at = this.#readTag(this.#inTag, text, at);
      else if (this.#candidate !== 'none') at = this.#readName(text, at);
      else at = this.#findTag(text, at);
    }
    return this.#depth === 0 ? at : -1;
  }

  #findTag(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      if (text.charCodeAt(at) !== less) continue;
      this.#candidate = 'either';
      this.#matched = 0;
      this.begun = 1;
      return at + 1;
    }
    return -1;
  }

  #readName(text: string, from: number): number {
    let at = from;
    for (; at < text.length; at++, this.begun++) {
      const code = text.charCodeAt(at);
      if (this.#candidate === 'either') {
        this.#candidate = code === slash ? 'close' : 'open';
        if (code === slash) continue;
      }
      if (this.#matched < this.#name.length && code === this.#name.charCodeAt(this.#matched)) {
        this.#matched++;
        continue;
      }
      if (this.#matched === this.#name.length && endsName(code)) this.#inTag = new TagEnd();
      else this.#endTag();
      return at;
    }
    return at;
  }

  #readTag(tag: TagEnd, text: string, from: number): number {
    const at = tag.read(text, from);
    this.begun += (at < 0 ? text.length : at) - from;
    if (at < 0) return -1;
    if (!tag.failed && this.#candidate === 'close') this.#depth--;
    else if (!tag.failed && !tag.selfClosing) this.#depth++;
    this.#endTag();
    return at;
  }

  #endTag(): void {
    this.#candidate = 'none';
    this.#inTag = undefined;
    this.begun = 0;
  }
}
