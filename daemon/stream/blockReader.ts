import { endsName } from './openings.ts';
import { TagEnd } from './tagEnd.ts';

/** Finds the end of an element whose open tag has been read; elements of the same name inside nest. */
export class BlockReader {
  readonly #open: string;
  readonly #close: string;
  #depth = 1;
  #mark = '';
  #inTag: TagEnd | undefined;

  constructor(name: string) {
    this.#open = `<${name}`;
    this.#close = `</${name}`;
  }

  /** The index after the element's close tag, or -1 when all was read and it has not come. */
  read(text: string, from: number): number {
    let at = from;
    while (at >= 0 && at < text.length && this.#depth > 0) {
      if (this.#inTag !== undefined) at = this.#readTag(this.#inTag, text, at);
      else if (this.#mark !== '') at = this.#readName(text, at);
      else at = this.#findTag(text, at);
    }
    return this.#depth === 0 ? at : -1;
  }

  #findTag(text: string, from: number): number {
    const at = text.indexOf('<', from);
    if (at < 0) return -1;
    this.#mark = '<';
    return at + 1;
  }

  #readName(text: string, at: number): number {
    const whole = this.#mark === this.#open || this.#mark === this.#close;
    if (whole && endsName(text.charCodeAt(at))) {
      this.#inTag = new TagEnd();
      return at;
    }
    const next = this.#mark + text[at];
    const fits = this.#open.startsWith(next) || this.#close.startsWith(next);
    this.#mark = fits ? next : '';
    return fits ? at + 1 : at;
  }

  #readTag(tag: TagEnd, text: string, from: number): number {
    const at = tag.read(text, from);
    if (at < 0) return -1;
    if (!tag.failed && this.#mark === this.#close) this.#depth--;
    else if (!tag.failed && !tag.selfClosing) this.#depth++;
    this.#mark = '';
    this.#inTag = undefined;
    return at;
  }
}
