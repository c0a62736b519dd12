import type { Token, Tokens } from 'marked';
import { decodeEntities } from '../../search/plainText.ts';
import { isFootnoteReference } from '../markdown/footnotes.ts';
import type { InlineContext, Mark, Piece, TextPiece } from './pieces.ts';
import { createHtmlReader } from './rawHtml.ts';

/** Flattens inline tokens into pieces, with the marks of all tokens around them. */
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

/** The text of a block of raw HTML, as paragraphs. */
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
