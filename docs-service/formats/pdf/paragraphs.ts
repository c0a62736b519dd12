import { withoutUndefined } from '../../../protocol/base/json.ts';
import { endOf } from '../../content/links.ts';
import type { Direction } from '../markdown/xmlText.ts';
import { directionOf, orderedLines } from './directions.ts';
import type { Pictures, PlacedPicture } from './pictures.ts';
import { type ImagePiece, type Piece, type TextPiece, textPiece } from './pieces.ts';
import { colors, pitch } from './style.ts';
import type { TextRun, Typesetter } from './typesetter.ts';

/** A node of PDFMake, with the facts that place it. */
export interface LaidOutNode {
  readonly node: Record<string, unknown>;
  /** Points that a page must have left for its beginning. */
  readonly lead: number;
  /** In points, an upper estimate. */
  readonly height: number;
}

export interface TextLook {
  readonly fontSize: number;
  readonly alignment?: 'left' | 'center' | 'right';
  readonly color?: string;
}

/** The room for text, in points. */
export interface TextSetting {
  readonly type: Typesetter;
  readonly pictures: Pictures;
  readonly width: number;
  /** Its distance from the margin of the page; 0 within a table. */
  readonly indent: number;
  readonly look: TextLook;
}

/**
 * The text and the pictures of a paragraph, one below the other. Small pictures stand in the text, and adjacent larger
 * ones share a row.
 */
export function paragraphNodes(pieces: readonly Piece[], setting: TextSetting): LaidOutNode[] {
  const nodes: LaidOutNode[] = [];
  let texts: TextPiece[] = [];
  let row: PlacedPicture[] = [];
  const endText = () => {
    if (texts.some(({ text }) => text.trim())) nodes.push(...textNodes(trimmed(texts), setting));
    texts = [];
  };
  const endRow = () => {
    if (row.length > 0) nodes.push(...rowNodes(row, setting));
    row = [];
  };
  for (const piece of pieces) {
    const part = piece.kind === 'image' ? partOf(piece, setting) : piece;
    if ('path' in part) {
      if (row.length === 0) endText();
      row.push(part);
    } else if (row.length === 0 || part.text.trim()) {
      endRow();
      texts.push(part);
    }
  }
  endRow();
  endText();
  return nodes;
}

function partOf(piece: ImagePiece, setting: TextSetting): TextPiece | PlacedPicture {
  const picture = setting.pictures.place(piece, setting.width);
  if (!picture) return placeholder(piece);
  // About an icon or a badge.
  const isSmall = picture.height <= setting.look.fontSize * 2.5 && picture.width <= setting.width / 2;
  if (isSmall) return { ...textPiece('\ufffc', piece.mark), picture };
  const { link, destination } = piece.mark;
  return { ...picture, leads: withoutUndefined({ link, linkToDestination: destination }) };
}

export function tryInLine(piece: ImagePiece, setting: TextSetting): TextPiece | undefined {
  const part = partOf(piece, setting);
  return 'path' in part || !part.picture ? undefined : part;
}

/** Only text. A paragraph of megabytes becomes several nodes, because PDFMake is quadratic in the words of a node. */
export function textNodes(pieces: readonly TextPiece[], { type, width, look }: TextSetting): LaidOutNode[] {
  return chunksOf(pieces).map((chunk) => {
    const { whole } = type.width(chunk, look.fontSize);
    const breaks = chunk.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
    const lines = Math.ceil((whole * 1.15) / Math.max(width, 1)) + breaks + (whole > width ? 1 : 0);
    const tallest = chunk.reduce((most, { picture }) => Math.max(most, picture?.height ?? 0), 0);
    const linePitch = pitch(look.fontSize) + tallest;
    const height = Math.max(1, lines) * linePitch;
    const { text, ...side } = directedText(chunk, { type, width, look });
    // Begun with its own property: PDFMake adds dozens, and V8 makes a slow dictionary of a bare copy.
    const node = { text, ...side, ...look };
    return { node, height, lead: Math.min(height, 2.2 * linePitch) };
  });
}

/** The runs of a text in the order in which they are set. Text from right to left stands at the right. */
export function directedText(
  pieces: readonly TextPiece[],
  { type, width, look: { fontSize } }: Pick<TextSetting, 'type' | 'width' | 'look'>,
  direction: Direction = directionOf(pieces.map(({ text }) => text).join('')),
): { readonly text: readonly TextRun[]; readonly alignment?: 'right' } {
  // A little more, for kerning and rounding.
  const widthOf = (piece: TextPiece) => type.width([piece], fontSize).whole * 1.02;
  const text = type.runs(orderedLines(pieces, { direction, room: width, widthOf }), fontSize, width);
  return direction === 'rtl' ? { text, alignment: 'right' } : { text };
}

/** Puts runs where the text of a node begins, so that they hang beside it. Their width is in points. */
export function hang(
  node: Record<string, unknown>,
  runs: readonly TextRun[],
  { width, direction = 'ltr' }: { readonly width: number; readonly direction?: Direction },
): Record<string, unknown> {
  const text = node['text'] as readonly TextRun[];
  if (direction === 'ltr') return { ...node, text: [...runs, ...text], leadingIndent: -width };
  const end = text.findIndex((run) => run.text === '\n');
  const first = end < 0 ? text : text.slice(0, end);
  const hanging = runs.map((run, at) => {
    const isLast = end >= 0 && at === runs.length - 1;
    return { ...run, ...(isLast ? { text: `${run.text}\n` } : {}), hangsRight: true };
  });
  return { ...node, text: [...first, ...hanging, ...text.slice(first.length + 1)], alignment: 'right' };
}

const chunkLength = 40_000;
const chunkPieces = 400;
/** Scripts in which a line may end after each character. */
const wide = /[\u2e80-\ua4cf\uac00-\ud7a3]/;

function chunksOf(pieces: readonly TextPiece[]): TextPiece[][] {
  const chunks: TextPiece[][] = [[]];
  let length = 0;
  for (const piece of pieces) {
    let rest = piece.text;
    do {
      if (length >= chunkLength || (chunks.at(-1)?.length ?? 0) >= chunkPieces) {
        chunks.push([]);
        length = 0;
      }
      const cut = cutAt(rest, (chunkLength - length) / (wide.test(rest.slice(0, 1000)) ? 4 : 1));
      chunks.at(-1)?.push({ ...piece, text: rest.slice(0, cut) });
      rest = rest.slice(cut);
      length += cut * (wide.test(piece.text) ? 4 : 1);
    } while (rest);
  }
  return chunks;
}

/** After the last space within a length, or the next one. A longer word is cut, but never inside a character. */
function cutAt(text: string, length: number): number {
  if (text.length <= length + 200) return text.length;
  const space = text.lastIndexOf(' ', length);
  if (space > 0) return space + 1;
  const next = text.slice(0, length + 200).indexOf(' ');
  if (next > 0) return next + 1;
  const end = Math.max(1, Math.floor(length));
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end + 1 : end;
}

function trimmed(pieces: readonly TextPiece[]): TextPiece[] {
  const [first, ...rest] = pieces;
  const start = first ? [{ ...first, text: first.text.replace(/^[ \n]+/, '') }, ...rest] : [];
  const last = start.at(-1);
  return last ? [...start.slice(0, -1), { ...last, text: last.text.replace(/[ \n]+$/, '') }] : start;
}

function placeholder({ alt, source, mark }: ImagePiece): TextPiece {
  const name = alt.trim() || (/^data:/i.test(source) ? '' : endOf(source));
  const text = name ? `[Picture: ${name}]` : '[Picture]';
  return textPiece(text, { ...mark, italics: true, quiet: true });
}

const gap = 6;

function rowNodes(pictures: readonly PlacedPicture[], { width, indent }: TextSetting): LaidOutNode[] {
  const rows: PlacedPicture[][] = [];
  let used = width;
  for (const picture of pictures) {
    used += gap + picture.width;
    if (used > width || (rows.at(-1)?.length ?? 0) >= mostInRow) {
      rows.push([]);
      used = picture.width;
    }
    rows.at(-1)?.push(picture);
  }
  return rows.map((row) => rowNode(row, indent));
}

const mostInRow = 8;

function rowNode(row: readonly PlacedPicture[], indent: number): LaidOutNode {
  const [first] = row;
  if (first && row.length === 1) return pictureNode(first);
  const height = Math.max(...row.map((picture) => picture.height));
  const columns = row.map((picture) => ({ ...pictureNode(picture).node, width: picture.width }));
  return { node: fromPageMargin({ columns, columnGap: gap }, indent), height, lead: height };
}

/** Explicit sizes, because PDFMake reads pixels as points. */
function pictureNode({ node, width, height, leads }: PlacedPicture): LaidOutNode {
  return { node: { ...node, ...leads, width, height, color: colors.text }, height, lead: height };
}

/**
 * Within an indent, PDFMake forgets the indent when a table or a row of columns continues on the next page, and sets
 * the rest too wide. It remembers only the table's own margin, so the table gets the whole indent as its own.
 * @param indent points from the margin of the page; 0 within another table, whose margin it remembers
 * @param shift points that the node stands further right
 */
export function fromPageMargin(
  node: Record<string, unknown>,
  indent: number,
  shift = 0,
): Record<string, unknown> {
  if (indent === 0 && shift === 0) return node;
  return { stack: [{ stack: [{ ...node, margin: [indent + shift, 0, 0, 0] }], marginLeft: -indent }] };
}
