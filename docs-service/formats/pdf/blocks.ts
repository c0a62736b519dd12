import type { Token, Tokens } from 'marked';
import type { CodeToken } from '../../../protocol/base/codeTokens.ts';
import { decodeEntities } from '../../content/inlineText.ts';
import { lightPalette } from '../markdown/codeColouring.ts';
import { tryAlert, tryCodeCaption } from '../markdown/gitHubBlocks.ts';
import { type HtmlList, type HtmlParts, type HtmlTable, withHtmlBlocks } from '../markdown/htmlBlocks.ts';
import type { Footnote } from '../markdown/markdown.ts';
import { HtmlSanitiser } from '../markdown/rawHtml.ts';
import { directionOf } from './directions.ts';
import { htmlParagraphs, inlinePieces } from './inlines.ts';
import {
  arrange,
  type Block,
  indented,
  indentWithin,
  type LayoutScope,
  ruleNode,
  stacked,
} from './layout.ts';
import { listBlock } from './lists.ts';
import { fromPageMargin, hang, paragraphNodes, textNodes, tryInLine } from './paragraphs.ts';
import { type Mark, type Piece, textPiece } from './pieces.ts';
import { codeLayout, codePadding, colors, headingStyle, quoteIndent, quoteLayout, sizes } from './style.ts';
import { tableBlocks } from './tables.ts';
import type { TextRun, Typesetter } from './typesetter.ts';

export function blocksOf(tokens: readonly Token[], scope: LayoutScope): Block[] {
  const sanitiser = new HtmlSanitiser();
  const blocks = withHtmlBlocks(tokens, (html) => sanitiser.partsOf(html));
  return blocks.flatMap((token) => blockOf(token, scope));
}

function blockOf(token: Token, scope: LayoutScope): Block[] {
  switch (token.type) {
    case 'heading':
      return headingBlock(token as Tokens.Heading, scope);
    case 'paragraph':
    case 'text':
      return paragraphBlocks(inlinePieces((token as Tokens.Text).tokens ?? [token], scope.bookmarks), scope);
    case 'html': {
      const [, code] = /^\s*<pre\b[^<>]*>\n?([\s\S]*)<\/pre>\s*$/.exec(token.raw) ?? [];
      if (code !== undefined) return [codeBlock(decodeEntities(code.replace(/<[^<>]*>/g, '')), '', scope)];
      return htmlParagraphs(token.raw, scope.bookmarks).flatMap((pieces) => paragraphBlocks(pieces, scope));
    }
    case 'htmlTable':
      return htmlTable(token as unknown as HtmlTable, scope);
    case 'figure':
    case 'definitions':
      return (token as unknown as HtmlParts).parts.flatMap((part) => partBlocks(part, scope));
    case 'code':
      return codeBlocks(token as Tokens.Code, scope);
    case 'blockquote':
      return quoteBlock(token as Tokens.Blockquote, scope);
    case 'list':
      return [listBlock(token as HtmlList, scope, blocksOf)];
    case 'table':
      return tableBlocks(token as Tokens.Table, scope);
    case 'hr':
      return [{ node: ruleNode(scope.width), lead: 1, height: 1, before: 14, after: 14 }];
    default:
      // Definitions of links and footnotes, and empty lines, print nothing in their place.
      return [];
  }
}

function paragraphBlocks(pieces: readonly Piece[], scope: LayoutScope): Block[] {
  const nodes = paragraphNodes(pieces, scope);
  return nodes.map((placed, index) => {
    const isText = 'text' in placed.node;
    const next = nodes[index + 1];
    // The label of a picture stays with it.
    const isLabel =
      isText && next !== undefined && !('text' in next.node) && placed.height <= 2 * placed.lead;
    return {
      ...placed,
      before: index === 0 || !isText ? 6.5 : 0,
      after: isText ? 6.5 : 9,
      ...(isLabel ? { isLabel } : {}),
    };
  });
}

function headingBlock(token: Tokens.Heading, scope: LayoutScope): Block[] {
  const heading = scope.markdown.headingOf.get(token);
  const style = headingStyle(token.depth);
  const mark: Mark = token.depth === 6 ? { bold: true, italics: true } : { bold: true };
  const color = token.depth > 4 ? { color: colors.quiet } : {};
  const setting = { ...scope, look: { ...scope.look, fontSize: style.fontSize, ...color } };
  // In a heading, a larger picture is its description.
  const pieces = inlinePieces(token.tokens, scope.bookmarks, mark).map((piece) =>
    piece.kind === 'text' ? piece : (tryInLine(piece, setting) ?? textPiece(piece.alt, piece.mark)),
  );
  const [first, ...rest] = textNodes(pieces, setting);
  if (!first || !pieces.some(({ text }) => text.trim())) return [];
  const bookmark = heading ? scope.bookmarks.place(heading) : {};
  const opening = { ...first, node: { ...first.node, lineHeight: 1.1, ...bookmark } };
  const { before, after } = style;
  return [
    { ...opening, before, after: rest.length > 0 ? 0 : after, isHeading: true },
    ...rest.map((placed) => ({ ...placed, before: 0, after })),
  ];
}

/** A table, below its caption if it has one. */
function htmlTable(table: HtmlTable, scope: LayoutScope): Block[] {
  const caption = blocksOf(table.caption, quiet(scope));
  return [
    ...caption.map((placed) => ({ ...placed, isHeading: true as const })),
    ...tableBlocks(table, scope),
  ];
}

function quiet(scope: LayoutScope): LayoutScope {
  return { ...scope, look: { ...scope.look, fontSize: sizes.note, color: colors.quiet } };
}

/** A term, its meaning, or what is in a figure. */
function partBlocks({ name, tokens }: HtmlParts['parts'][number], scope: LayoutScope): Block[] {
  if (name === 'figcaption') return blocksOf(tokens, quiet(scope));
  if (name === 'figure') return blocksOf(tokens, scope);
  if (name === 'dt') {
    const pieces = tokens.flatMap((token) => inlinePieces([token], scope.bookmarks, { bold: true }));
    return paragraphBlocks(pieces, scope).map((placed) => ({ ...placed, after: 2, isHeading: true }));
  }
  const indent = indentWithin(scope, quoteIndent);
  const blocks = blocksOf(tokens, indented(scope, indent));
  return blocks.length === 0 ? [] : [stacked(blocks, 2, 6.5, { marginLeft: indent })];
}

/** Code, below its caption if it has one. */
function codeBlocks(token: Tokens.Code, scope: LayoutScope): Block[] {
  const block = codeBlock(token.text, token.lang, scope);
  const caption = tryCodeCaption(token);
  if (caption === undefined) return [block];
  const above = paragraphBlocks([textPiece(caption)], quiet(scope));
  // As a heading does, a caption stays with what follows it.
  return [
    ...above.map((placed) => ({ ...placed, after: 3, isHeading: true as const })),
    { ...block, before: 3 },
  ];
}

function quoteBlock(token: Tokens.Blockquote, scope: LayoutScope): Block[] {
  const indent = indentWithin(scope, quoteIndent);
  const quoteDepth = (scope.quoteDepth ?? 0) + 1;
  // PDFMake warns about tables that are nested deeper.
  const isTable = indent > 0 && quoteDepth <= 4;
  const look = { ...scope.look, color: colors.quiet };
  const inner = { ...indented(isTable ? { ...scope, inTable: true } : scope, indent), quoteDepth, look };
  const blocks = quotedBlocks(token, inner);
  if (blocks.length === 0) return [];
  const quote = stacked(blocks, 9, 9, { marginLeft: indent });
  if (!isTable) return [quote];
  const layout = quoteLayout(directionOf(token.text.replace(/^\[!\w+\]/, '')));
  const table = { table: { widths: [inner.width], body: [[{ stack: arrange(blocks) }]] }, layout };
  return [{ ...quote, node: fromPageMargin(table, scope.indent) }];
}

/** An alert begins with its label. */
function quotedBlocks(token: Tokens.Blockquote, scope: LayoutScope): Block[] {
  const alert = tryAlert(token);
  if (alert === undefined) return blocksOf(token.tokens, scope);
  const label = textPiece(alert.label, { bold: true });
  return [...paragraphBlocks([label], scope), ...blocksOf(alert.tokens, scope)];
}

/** The footnotes after a short rule at the end of the document, each with a link back to its reference. */
export function notesBlocks(footnotes: readonly Footnote[], scope: LayoutScope): Block[] {
  if (footnotes.length === 0) return [];
  const rule = ruleNode(110, 0.6, colors.strongRule);
  const line = { node: rule, lead: 24, height: 1, before: 26, after: 8 };
  const look = { ...scope.look, fontSize: sizes.note };
  return [line, ...footnotes.map((footnote) => noteBlock(footnote, { ...indented(scope, indent), look }))];
}

const indent = 20;

function noteBlock({ number, tokens }: Footnote, scope: LayoutScope): Block {
  const { note, reference } = scope.bookmarks.noteNames(number);
  const sign = textPiece(`${number}.\u00a0\u00a0`, { destination: reference });
  const runs = scope.type.runs([sign], sizes.note);
  const { whole } = scope.type.width([sign], sizes.note);
  const blocks = blocksOf(tokens, scope);
  const [first, ...rest] = blocks;
  const opens = first && Array.isArray(first.node['text']) && !first.isHeading;
  const opening = opens ? first.node : { text: [{ text: ' ' }], fontSize: sizes.note };
  const placed = { lead: 12, height: 12, before: 0, after: 2, ...(opens ? first : {}) };
  const all = [
    { ...placed, node: { ...hang(opening, runs, { width: whole }), id: note } },
    ...(opens ? rest : blocks),
  ];
  return stacked(all, 2.5, 2.5, { marginLeft: indent });
}

/** Code on a light background, line by line. A line that is too long continues below, further in. */
function codeBlock(code: string, label: string | undefined, scope: LayoutScope): Block {
  const { type, width, indent, colouring } = scope;
  const room = width - 2 * codePadding.x;
  const text = expandTabs(code.replace(/\r\n?/g, '\n').replace(/^\n+|\s+$/g, ''));
  const fontSize = fittingSize(text, room, type);
  // As wide as if the letters had the usual size.
  const usualRoom = (room * sizes.code) / fontSize;
  const lines = colouring(text, label).flatMap((tokens) =>
    wrapLine(tokens.map((token) => token.text).join(''), (part) => type.codeWidth(part), usualRoom).map(
      ({ indent, start, end }) => [{ text: indent, kind: undefined }, ...tokensWithin(tokens, start, end)],
    ),
  );
  const stack = lines.map((tokens) => ({ text: runsOf(tokens, type), ...lineLook, fontSize }));
  const linePitch = fontSize * ownPitch;
  const height = lines.length * linePitch + 2 * codePadding.y;
  const table = { table: { widths: [room], body: [[{ stack }]] }, layout: codeLayout };
  const short = lines.length <= maxUnbroken;
  return {
    node: short ? { stack: [table], unbreakable: true } : fromPageMargin(table, indent),
    lead: short ? height : 5 * linePitch,
    height,
    before: 9,
    after: 10,
  };
}

/** Smaller letters where lines that must stay below each other would be wrapped otherwise. */
function fittingSize(text: string, room: number, type: Typesetter): number {
  if (!drawing.test(text)) return sizes.code;
  const widest = text.split('\n').reduce((most, line) => Math.max(most, type.codeWidth(line)), 0);
  if (widest <= room) return sizes.code;
  const fitting = Math.floor(((room * sizes.code) / widest) * 10) / 10;
  return fitting >= smallest ? fitting : sizes.code;
}

/** Drawn boxes, and tables with frames of `|` and `+`. */
const drawing = /[\u2500-\u257f]|^[ \t]*[|+].*[|+][ \t]*$/m;
/** In points: about 110 characters on the width of a page. */
const smallest = 6.6;

function runsOf(tokens: readonly CodeToken[], type: Typesetter): TextRun[] | string {
  if (!tokens.some(({ text }) => text.trim())) return ' ';
  return tokens.flatMap(({ text, kind }) => {
    const runs = type.codeRuns(text);
    return kind === undefined ? runs : runs.map((run) => ({ ...run, color: lightPalette[kind] }));
  });
}

function tokensWithin(tokens: readonly CodeToken[], start: number, end: number): CodeToken[] {
  let at = 0;
  return tokens.flatMap(({ text, kind }) => {
    const from = at;
    at += text.length;
    const part = text.slice(Math.max(0, start - from), Math.max(0, end - from));
    return part === '' ? [] : [{ text: part, kind }];
  });
}

/** Shorter blocks are not divided between pages. */
const maxUnbroken = 16;

/** The line pitch of JetBrains Mono itself, in ems, at which the lines of drawn boxes meet. */
const ownPitch = 1.32;

const lineLook = {
  font: 'Code',
  // In the metrics that all fonts get.
  lineHeight: ownPitch / 1.172,
  noWrap: true,
  preserveLeadingSpaces: true,
  preserveTrailingSpaces: true,
} as const;

function expandTabs(code: string): string {
  let column = 0;
  return code.replace(/\t|\n|[^\t\n]+/g, (part) => {
    const expanded = part === '\t' ? ' '.repeat(4 - (column % 4)) : part;
    column = part === '\n' ? 0 : column + expanded.length;
    return expanded;
  });
}

/**
 * The parts of a line that are set as lines of their own, further in but for the first. It breaks after a space in the
 * second half of the room, or else after a sign, or else anywhere.
 */
function wrapLine(line: string, widthOf: (text: string) => number, room: number) {
  if (line.length * sizes.code * 0.6 <= room && /^[ -~]*$/.test(line)) {
    return [{ indent: '', start: 0, end: line.length }];
  }
  const deeper = ' '.repeat(Math.min((/^ */.exec(line)?.[0].length ?? 0) + 2, 24));
  const parts: { readonly indent: string; readonly start: number; readonly end: number }[] = [];
  let [indent, start, at, used] = ['', 0, 0, 0];
  for (const character of line) {
    const width = widthOf(character);
    if (used + width > room && line.slice(start, at).trim()) {
      const cut = start + breakIn(indent + line.slice(start, at), character) - indent.length;
      const end = cut > start ? cut : at;
      parts.push({ indent, start, end: start + line.slice(start, end).trimEnd().length });
      indent = deeper;
      start = end + (/^\s*/.exec(line.slice(end, at))?.[0].length ?? 0);
      used = widthOf(indent + line.slice(start, at));
    }
    at += character.length;
    used += width;
  }
  return [...parts, { indent, start, end: line.length }];
}

/** The best place to break a full line, before the character that does not fit. */
function breakIn(line: string, next: string): number {
  const text = line + next;
  const space = lastBreak(text, /\s/, line.length * 0.5);
  return space ?? lastBreak(text, /[,;:.(){}[\]|&=/\\-]/, line.length * 0.66) ?? line.length;
}

function lastBreak(text: string, sign: RegExp, least: number): number | undefined {
  for (let at = text.length - 1; at > least; at--) {
    if (sign.test(text.charAt(at - 1)) && !/[\s,;:.)\]}]/.test(text.charAt(at))) return at;
  }
  return undefined;
}
