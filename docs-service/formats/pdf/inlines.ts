import { Parser } from 'htmlparser2';
import type { Token, Tokens } from 'marked';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import { cleanId } from '../../content/headings.ts';
import { decodeEntities } from '../../content/inlineText.ts';
import type { Bookmarks } from './bookmarks.ts';
import { type ImagePiece, type Mark, type Piece, textPiece } from './pieces.ts';

/** Flattens inline tokens into pieces, with the marks of all tokens around them. */
export function inlinePieces(tokens: readonly Token[], bookmarks: Bookmarks, mark: Mark = {}): Piece[] {
  const html = createHtmlReader(mark, bookmarks);
  return tokens.flatMap((token) => {
    if (token.type === 'html') return withPlaces(html.read(token.raw), bookmarks);
    return html.isHidden() ? [] : withPlaces(piecesOf(token, bookmarks, html.mark()), bookmarks);
  });
}

/** Begins places that wait with the next texts. */
function withPlaces(pieces: readonly Piece[], { waiting }: Bookmarks): Piece[] {
  return pieces.map((piece) => {
    const isOpen = piece.kind === 'text' && piece.id === undefined && piece.text.trim() !== '';
    const id = isOpen ? waiting.shift() : undefined;
    return id === undefined ? piece : { ...piece, id };
  });
}

/** The text of a block of raw HTML, as paragraphs. */
export function htmlParagraphs(raw: string, bookmarks: Bookmarks): Piece[][] {
  const paragraphs: Piece[][] = [[]];
  for (const piece of withPlaces(createHtmlReader({}, bookmarks).read(raw), bookmarks)) {
    if (piece.kind === 'text' && piece.text === '\n\n') paragraphs.push([]);
    else paragraphs.at(-1)?.push(piece);
  }
  return paragraphs.filter((pieces) => pieces.some((piece) => piece.kind === 'image' || piece.text.trim()));
}

function piecesOf(token: Token, bookmarks: Bookmarks, mark: Mark): Piece[] {
  switch (token.type) {
    case 'strong':
      return inlinePieces((token as Tokens.Strong).tokens, bookmarks, { ...mark, bold: true });
    case 'em':
      return inlinePieces((token as Tokens.Em).tokens, bookmarks, { ...mark, italics: true });
    case 'del':
      return inlinePieces((token as Tokens.Del).tokens, bookmarks, { ...mark, strike: true });
    case 'codespan':
      return [textPiece((token as Tokens.Codespan).text, { ...mark, code: true })];
    case 'br':
      return [textPiece('\n', mark)];
    case 'link': {
      const { href, tokens } = token as Tokens.Link;
      return inlinePieces(tokens, bookmarks, { ...mark, ...bookmarks.leadOf(href) });
    }
    case 'image': {
      const { href, text: alt } = token as Tokens.Image;
      return [{ kind: 'image', source: href, alt: onOneLine(decodeEntities(alt)), mark }];
    }
    case 'footnoteReference':
      return [bookmarks.tryNoteMark(token) ?? textPiece(token.raw, mark)];
    case 'checkbox':
    case 'footnoteDefinition':
      return [];
  }
  if ('tokens' in token && token.tokens) return inlinePieces(token.tokens, bookmarks, mark);
  const raw = 'text' in token && typeof token.text === 'string' ? token.text : token.raw;
  return [textPiece(decodeEntities(raw).replace(/[ \t]*\n[ \t]*/g, ' '), mark)];
}

/**
 * Reads raw HTML for how text is set; of everything else, only the text stays. Markdown cuts inline HTML into a token
 * for each tag, so one reader goes over all tokens of a paragraph.
 */
function createHtmlReader(outer: Mark, bookmarks: Bookmarks) {
  const open: { readonly name: string; readonly mark: Mark }[] = [];
  let pieces: Piece[] = [];
  const mark = () => open.at(-1)?.mark ?? outer;
  const isHidden = () => open.some(({ name }) => hidden.has(name));
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const id = attributes['id'] ?? attributes['name'];
        if (id !== undefined) bookmarks.begin(cleanId(id));
        if (breaks.has(name)) pieces.push(textPiece(name === 'br' ? '\n' : '\n\n', mark()));
        const image = name === 'img' && !isHidden() ? imageOf(attributes, mark()) : undefined;
        if (image) pieces.push(image);
        // What is nested too deep is set like its surroundings. An element that is always empty is closed at once.
        const { href } = attributes;
        const own = name === 'a' && href ? bookmarks.leadOf(href) : marks.get(name);
        if (open.length < maxDepth) open.push({ name, mark: { ...mark(), ...own } });
      },
      onclosetag(name) {
        const index = open.findLastIndex((element) => element.name === name);
        if (index >= 0) open.splice(index);
        if (name === 'td' || name === 'th') pieces.push(textPiece(' ', mark()));
        if (breaks.has(name) && name !== 'br') pieces.push(textPiece('\n\n', mark()));
      },
      ontext(content) {
        if (isHidden()) return;
        const isKept = open.some(({ name }) => name === 'pre');
        // With the blanks that begin a line or align its words.
        const shown = isKept
          ? content
              .replaceAll('\t', '    ')
              .replace(/^ +| {2,}/gm, (blanks) => '\u00a0'.repeat(blanks.length))
          : content.replace(/\s+/g, ' ');
        for (const part of isKept ? shown.split(/(\n)/) : [shown])
          pieces.push(textPiece(part, part === '\n' ? {} : mark()));
      },
    },
    { recognizeSelfClosing: true },
  );
  return {
    mark,
    isHidden,
    read(raw: string): Piece[] {
      pieces = [];
      parser.write(raw);
      return pieces;
    },
  };
}

const maxDepth = 100;
const hidden = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'object', 'video', 'audio']);
const breaks = new Set(
  'br p div section article header footer main aside figure figcaption details summary blockquote pre ul ol li dl dt dd table tr h1 h2 h3 h4 h5 h6 hr center picture'.split(
    ' ',
  ),
);

const namesOf: readonly (readonly [Mark, string])[] = [
  [{ bold: true }, 'b strong summary th h1 h2 h3 h4 h5 h6'],
  [{ italics: true }, 'i em cite var dfn'],
  [{ code: true }, 'code pre kbd samp tt'],
  [{ strike: true }, 's del strike'],
  [{ underline: true }, 'u ins'],
  [{ small: 'sub' }, 'sub'],
  [{ small: 'sup' }, 'sup'],
  [{ quiet: true }, 'small'],
];
/** By the names of elements. */
const marks = new Map(
  namesOf.flatMap(([mark, names]) => names.split(' ').map((name) => [name, mark] as const)),
);

function imageOf(attributes: Record<string, string>, mark: Mark): Piece | undefined {
  const { src, alt = '' } = attributes;
  if (!src) return undefined;
  return withoutUndefined<ImagePiece>({
    kind: 'image',
    source: src,
    alt: onOneLine(alt),
    mark,
    width: tryPixels(attributes['width']),
    height: tryPixels(attributes['height']),
  });
}

/** Outside of a piece's own lines, `\n` is a space. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function tryPixels(text = ''): number | undefined {
  return /^0*[1-9]\d{0,4}(px)?$/.test(text) ? Number.parseInt(text, 10) : undefined;
}
