/** Where a Markdown text may be cut. All places are in UTF-16 units from its beginning. */
export interface MarkdownParts<Places = readonly number[]> {
  readonly sections: readonly MarkdownSection[];
  /** Where the blocks begin: paragraphs, headings, tables, lists, code. Ascending. */
  readonly blocks: Places;
  /** Where a line begins that does not continue a code fence. Ascending; for blocks that are too long. */
  readonly lines: Places;
}

/** A document that is read in parts. */
export interface DocumentParts<Places = Uint32Array> extends MarkdownParts<Places> {
  readonly markdown: string;
}

/** A heading outside of quotes and lists, with everything up to the next heading of its depth or above. */
export interface MarkdownSection {
  /** 1 to 6. */
  readonly depth: number;
  /** Without its marks. */
  readonly text: string;
  /** As GitHub makes it, unique in the document. */
  readonly id: string;
  readonly start: number;
  readonly end: number;
}

/** For `readParts`. A long document has a million lines: reading them as JSON text would take too long. */
export function encodeParts(markdown: string, { sections, blocks, lines }: MarkdownParts): Uint8Array {
  const encode = (places: readonly number[]) =>
    Buffer.from(Uint32Array.from(places).buffer).toString('base64');
  const parts: DocumentParts<string> = {
    markdown,
    sections,
    blocks: encode(blocks),
    lines: encode(lines),
  };
  return new TextEncoder().encode(JSON.stringify(parts));
}

/** Reads what the render worker wrote. */
export function readParts(bytes: Uint8Array): DocumentParts {
  const { blocks, lines, ...rest } = JSON.parse(new TextDecoder().decode(bytes)) as DocumentParts<string>;
  return { ...rest, blocks: decode(blocks), lines: decode(lines) };
}

function decode(places: string): Uint32Array {
  return new Uint32Array(Uint8Array.from(Buffer.from(places, 'base64')).buffer);
}
