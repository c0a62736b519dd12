/** A document that is read in parts; `MarkdownParts` explains the fields. */
export interface DocumentParts {
  readonly markdown: string;
  readonly sections: readonly MarkdownSection[];
  readonly blocks: Uint32Array;
  readonly lines: Uint32Array;
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

/** The places are the bytes of a `Uint32Array` in Base64. */
export interface EncodedParts {
  readonly markdown: string;
  readonly sections: readonly MarkdownSection[];
  readonly blocks: string;
  readonly lines: string;
}

/** Reads what the render worker wrote. */
export function readParts(bytes: Uint8Array): DocumentParts {
  const { blocks, lines, ...rest } = JSON.parse(new TextDecoder().decode(bytes)) as EncodedParts;
  return { ...rest, blocks: decode(blocks), lines: decode(lines) };
}

function decode(places: string): Uint32Array {
  return new Uint32Array(Uint8Array.from(Buffer.from(places, 'base64')).buffer);
}
