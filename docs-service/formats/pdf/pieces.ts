import type { Token } from 'marked';

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

/** `\n` in a text begins a new line. */
export interface TextPiece {
  readonly kind: 'text';
  readonly text: string;
  readonly mark: Mark;
  /** The place in the document that begins with this piece. */
  readonly id?: string;
  /** A stretch of one direction, whose parts are set from right to left if they need several fonts. */
  readonly isRightToLeft?: true;
}

export interface ImagePiece {
  readonly kind: 'image';
  /** As it was written. */
  readonly source: string;
  readonly alt: string;
  readonly mark: Mark;
  /** Pixels that the author asked for. */
  readonly width?: number;
}

export type Piece = TextPiece | ImagePiece;

/** What the tokens alone do not tell. */
export interface InlineContext {
  /** Where a link leads; nothing where it may not be followed. */
  readonly linkOf: (href: string) => Pick<Mark, 'link' | 'destination'>;
  /** The piece for a reference to a footnote. */
  readonly footnoteOf: (token: Token) => Piece | undefined;
}
