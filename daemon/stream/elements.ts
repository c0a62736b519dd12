import { doubleQuote, greater, less, singleQuote, skipBlanks, slash } from './characters.ts';
import { endsName } from './openingTable.ts';

/** A whole block before the user's words. */
export interface LeadingBlock {
  readonly name: string;
  readonly text: string;
}

/**
 * Takes whole blocks of the named elements from the very start of a text, as long as only blocks and blanks come. The
 * rest is the user's own text. Attribute values may contain `>`, elements of the same name nest, and a block that never
 * closes is text. Linear in the length of the text.
 */
export function takeLeadingBlocks(
  text: string,
  names: ReadonlySet<string>,
): { readonly blocks: readonly LeadingBlock[]; readonly rest: string } {
  const blocks: LeadingBlock[] = [];
  let at = skipBlanks(text, 0);
  for (;;) {
    const block = tryReadBlock(text, at, names);
    if (!block) return { blocks, rest: blocks.length === 0 ? text : text.slice(at) };
    blocks.push(block);
    at = skipBlanks(text, at + block.text.length);
  }
}

function tryReadBlock(text: string, at: number, names: ReadonlySet<string>): LeadingBlock | undefined {
  const name = nameAt(text, at);
  if (name === undefined || !names.has(name)) return undefined;
  const tag = new TagEnd();
  const inside = tag.read(text, at + 1 + name.length);
  if (inside < 0 || tag.failed) return undefined;
  const end = tag.selfClosing ? inside : new BlockReader(name).read(text, inside);
  return end < 0 ? undefined : { name, text: text.slice(at, end) };
}

/** No element name is longer. This bounds how far a `<` before a long text is read. */
const maxNameLength = 128;

function nameAt(text: string, at: number): string | undefined {
  if (text.charCodeAt(at) !== less) return undefined;
  const limit = Math.min(text.length, at + 2 + maxNameLength);
  for (let end = at + 1; end < limit; end++)
    if (endsName(text.charCodeAt(end))) return text.slice(at + 1, end);
  return undefined;
}

/** Which tag the characters so far may be. After the `<` alone it is undecided. */
type Candidate = 'none' | 'either' | 'open' | 'close';

/** Finds the end of an element whose open tag has been read. Elements of the same name may nest inside it. */
export class BlockReader {
  #depth = 1;
  #candidate: Candidate = 'none';
  /** How many characters of the name have matched. */
  #matched = 0;
  /** How many of the last characters may be the beginning of a tag of this name. */
  begun = 0;
  #inTag: TagEnd | undefined;

  constructor(private readonly name: string) {}

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
      if (this.#matched < this.name.length && code === this.name.charCodeAt(this.#matched)) {
        this.#matched++;
        continue;
      }
      if (this.#matched === this.name.length && endsName(code)) this.#inTag = new TagEnd();
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

/** Finds the end of a block that is closed by the first close mark. */
export class MarkReader {
  #matched = '';

  constructor(private readonly close: string) {}

  /** How many of the last characters may be the beginning of the mark. */
  get begun(): number {
    return this.#matched.length;
  }

  /** The index after the mark, or -1 if the mark has not come in this text. */
  read(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const longer = this.#matched + text.charAt(at);
      // The first character of a mark does not occur again in the mark.
      if (this.close.startsWith(longer)) this.#matched = longer;
      else this.#matched = this.close.startsWith(text.charAt(at)) ? text.charAt(at) : '';
      if (this.#matched.length === this.close.length) return at + 1;
    }
    return -1;
  }
}

/** Longer text is not a tag. Paths in attributes fit, and an unclosed quote does not withhold a whole answer. */
const maxTagLength = 4096;

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
      if (++this.#length > maxTagLength || (code === less && this.#quote === 0)) {
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
