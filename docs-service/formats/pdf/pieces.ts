/** How a piece of text is set. Where it leads is either an address or a place in the document. */
export interface Mark {
  readonly bold?: true;
  readonly italics?: true;
  readonly code?: true;
  readonly strike?: true;
  readonly underline?: true;
  readonly small?: 'sub' | 'sup';
  readonly quiet?: true;
  readonly link?: string;
  readonly destination?: string;
}

/** A picture that stands in a line of text, in points. */
export interface LinePicture {
  readonly width: number;
  readonly height: number;
  readonly node: { readonly image: string } | { readonly svg: string };
}

/** `\n` in a text begins a new line. */
export interface TextPiece {
  readonly kind: 'text';
  readonly text: string;
  readonly mark: Mark;
  /** The place in the document that begins with this piece. */
  readonly id?: string;
  /** A stretch of one direction, whose parts are set from right to left if they need several fonts. */
  readonly isRightToLeft?: true;
  /** Stands in place of the text, which is one character. */
  readonly picture?: LinePicture;
}

export interface ImagePiece {
  readonly kind: 'image';
  /** As it was written. */
  readonly source: string;
  readonly alt: string;
  readonly mark: Mark;
  /** Pixels that the author asked for. */
  readonly width?: number;
  readonly height?: number;
}

export type Piece = TextPiece | ImagePiece;

export function textPiece(text: string, mark: Mark = {}): TextPiece {
  return { kind: 'text', text, mark };
}
