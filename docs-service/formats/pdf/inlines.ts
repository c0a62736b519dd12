import type { Token, Tokens } from 'marked';
import { isFootnoteReference } from '../markdown/footnotes.ts';
import { decodeEntities } from '../markdown/plainText.ts';
import { createHtmlReader } from './rawHtml.ts';

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

/** Flattens inline tokens into pieces, with the marks of all that they stand in. */
export function inlinePieces(tokens: readonly Token[], context: InlineContext, mark: Mark = {}): Piece[] {
  const html = createHtmlReader(mark, context);
  return tokens.flatMap((token) =>
    token.type === 'html'
      ? html.read(token.raw)
      : html.isHidden()
        ? []
        : piecesOf(token, context, html.mark()),
  );
}

/** What a block of raw HTML says, as paragraphs. */
export function htmlParagraphs(raw: string, context: InlineContext): Piece[][] {
  const paragraphs: Piece[][] = [[]];
  for (const piece of createHtmlReader({}, context).read(raw)) {
    if (piece.kind === 'text' && piece.text === '\n\n') paragraphs.push([]);
    else paragraphs.at(-1)?.push(piece);
  }
  return paragraphs.filter((pieces) => pieces.some((piece) => piece.kind === 'image' || piece.text.trim()));
}

function piecesOf(token: Token, context: InlineContext, mark: Mark): Piece[] {
  if (isFootnoteReference(token)) return [context.footnoteOf(token) ?? text(token.raw, mark)];
  switch (token.type) {
    case 'strong':
      return inlinePieces((token as Tokens.Strong).tokens, context, { ...mark, bold: true });
    case 'em':
      return inlinePieces((token as Tokens.Em).tokens, context, { ...mark, italics: true });
    case 'del':
      return inlinePieces((token as Tokens.Del).tokens, context, { ...mark, strike: true });
    case 'codespan':
      return [text((token as Tokens.Codespan).text, { ...mark, code: true })];
    case 'br':
      return [text('\n', mark)];
    case 'link': {
      const { href, tokens } = token as Tokens.Link;
      return inlinePieces(tokens, context, { ...mark, ...context.linkOf(href) });
    }
    case 'image': {
      const { href, text: alt } = token as Tokens.Image;
      return [{ kind: 'image', source: href, alt: decodeEntities(alt), mark }];
    }
    case 'checkbox':
    case 'footnoteDefinition':
      return [];
  }
  if ('tokens' in token && token.tokens) return inlinePieces(token.tokens, context, mark);
  const raw = 'text' in token && typeof token.text === 'string' ? token.text : token.raw;
  return [text(decodeEntities(raw).replace(/[ \t]*\n[ \t]*/g, ' '), mark)];
}

function text(content: string, mark: Mark): TextPiece {
  return { kind: 'text', text: content, mark };
}
