import type { MarkdownSection } from './markdownParts.ts';

/** A document that is read in parts; `MarkdownParts` explains the fields. */
export interface DocumentParts {
  readonly markdown: string;
  readonly sections: readonly MarkdownSection[];
  readonly blocks: Uint32Array;
  readonly lines: Uint32Array;
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
