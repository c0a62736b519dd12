import { less, skipBlanks } from './characters.ts';
import { BlockReader, TagEnd } from './elementEnd.ts';
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
