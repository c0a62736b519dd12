import type { Token, Tokens } from 'marked';
import type { HtmlCell, HtmlParts, HtmlTable } from '../markdown/htmlBlocks.ts';
import { UnrenderableError } from '../renderJob.ts';
import type { Bookmarks } from './bookmarks.ts';
import { directionOf, inOrder } from './directions.ts';
import { htmlParagraphs, inlinePieces } from './inlines.ts';
import type { Block, LayoutScope } from './layout.ts';
import { fromPageMargin, type LaidOutNode, paragraphNodes, type TextLook, tryInLine } from './paragraphs.ts';
import { type Mark, type Piece, type TextPiece, textPiece } from './pieces.ts';
import { pitch, sizes, tableLayout, tablePadding, textHeight } from './style.ts';
import type { TextWidth } from './typesetter.ts';

/** A table, or several below each other if it has more columns than fit on the page. */
export function tableBlocks(table: Tokens.Table | HtmlTable, scope: LayoutScope): Block[] {
  const plain =
    table.type === 'htmlTable' ? gridOf(table, scope.bookmarks) : markdownTable(table, scope.bookmarks);
  if (plain.rows.length === 0) return [];
  const needs = needsOf(plain.rows, scope);
  return groupsOf(needs, scope.width).map((group) => tableBlock({ ...plain, needs }, group, scope));
}

/** @param needs of each column, at a font size of 1 */
function tableBlock(
  { text, rows: whole, heads, needs }: PlainTable & { readonly needs: readonly TextWidth[] },
  chosen: readonly number[],
  scope: LayoutScope,
): Block {
  const direction = directionOf(text);
  const columns = inOrder(chosen, direction);
  const side = direction === 'rtl' ? 'right' : undefined;
  // Where a table is divided, or runs from right to left, each cell has its own place alone.
  const isWhole = chosen.length === needs.length && direction === 'ltr';
  const rows = whole.map((row) => columns.map((column) => row[column] ?? noCell));
  const room = scope.width - 2 * tablePadding.x * (columns.length - 1);
  const { widths, fontSize } = fittingWidths(
    columns.flatMap((column) => needs[column] ?? []),
    room,
  );
  const cells = rows.map((row) =>
    row.map(({ pieces, align = side, colSpan = 1, rowSpan = 1 }, index) => {
      const covered = isWhole ? widths.slice(index, index + colSpan) : widths.slice(index, index + 1);
      const width = covered.reduce((sum, one) => sum + one, 2 * tablePadding.x * (covered.length - 1));
      const look: TextLook = { ...scope.look, fontSize, ...(align ? { alignment: align } : {}) };
      const { node, height } = cellOf(paragraphNodes(pieces, { ...scope, width, indent: 0, look }));
      return { node: isWhole && colSpan * rowSpan > 1 ? { ...node, colSpan, rowSpan } : node, height };
    }),
  );
  const heights = cells.map((row) => Math.max(pitch(fontSize), ...row.map(({ height }) => height)) + padding);
  const body = cells.map((row) => row.map(({ node }) => node));
  const [first = 0, second = 0] = heights;
  const height = heights.reduce((sum, row) => sum + row, 0);
  const node = { table: { widths, body, ...breaking(heights, heads) }, layout: tableLayout };
  const shift = side === 'right' ? room - widths.reduce((sum, width) => sum + width, 0) : 0;
  return {
    node: fromPageMargin(node, scope.indent, Math.max(0, shift)),
    lead: Math.min(heads > 0 ? first + second : first, textHeight * 0.4),
    height,
    before: 9,
    after: 11,
  };
}

const noCell: PlainCell = { pieces: [] };
const padding = 2 * tablePadding.y + 1;

/** A row that does not fit on a page must be divided. PDFMake would drop it if that were forbidden. */
function breaking(heights: readonly number[], heads: number): Record<string, unknown> {
  const most = heights.reduce((highest, height) => Math.max(highest, height), 0);
  const dontBreakRows = most < textHeight * 0.3;
  const head = heights.slice(0, heads).reduce((sum, height) => sum + height, 0);
  const repeats = heads > 0 && head < textHeight * 0.25;
  const keeps = repeats && heights.length > heads && (heights[heads] ?? 0) < textHeight * 0.3;
  return {
    dontBreakRows,
    ...(repeats ? { headerRows: heads } : {}),
    ...(keeps ? { keepWithHeaderRows: 1 } : {}),
  };
}

/** Without its header if that is empty. */
function markdownTable({ header, rows, align, raw }: Tokens.Table, bookmarks: Bookmarks): PlainTable {
  const row = (cells: readonly Tokens.TableCell[], mark: Mark) =>
    cells.map(({ tokens }, at) => ({
      pieces: inlinePieces(tokens, bookmarks, mark),
      align: align[at] ?? undefined,
    }));
  const head = row(header, { bold: true });
  const isShown = head.some(({ pieces }) => pieces.length > 0);
  const body = rows.map((cells) => row(cells, {}));
  return { text: raw, rows: isShown ? [head, ...body] : body, heads: isShown ? 1 : 0 };
}

/** Uses smaller letters if words would have to be cut. */
function fittingWidths(needs: readonly TextWidth[], room: number) {
  const scaled = (size: number): TextWidth[] => needs.map((need) => scaledNeed(need, size));
  const fits = (size: number) => scaled(size).reduce((sum, { part }) => sum + part, 0) <= room;
  const fontSize = fontSizes.find(fits) ?? smallest;
  return { fontSize, widths: columnWidths(scaled(fontSize), room) };
}

/** What each column needs at a font size of 1. What a cell over several needs, they share. */
function needsOf(rows: PlainTable['rows'], scope: LayoutScope): TextWidth[] {
  const widthOf = ({ pieces }: PlainCell) =>
    scope.type.width(
      pieces.map((piece) => measured(piece, scope)),
      1,
    );
  const needs = (rows[0] ?? []).map((_, column) => {
    const widths = rows
      .map((row) => row[column] ?? noCell)
      .filter(({ colSpan = 1 }) => colSpan === 1)
      .map(widthOf);
    return widths.reduce(wider, { part: 0, word: 0, whole: 0 });
  });
  for (const row of rows)
    for (const [at, cell] of row.entries()) {
      const { colSpan = 1 } = cell;
      if (colSpan === 1) continue;
      const { part, word, whole } = widthOf(cell);
      const share = { part: part / colSpan, word: word / colSpan, whole: whole / colSpan };
      for (let over = at; over < at + colSpan; over += 1) needs[over] = wider(needs[over] ?? share, share);
    }
  return needs;
}

function wider(one: TextWidth, other: TextWidth): TextWidth {
  return {
    part: Math.max(one.part, other.part),
    word: Math.max(one.word, other.word),
    whole: Math.max(one.whole, other.whole),
  };
}

function measured(piece: Piece, scope: LayoutScope): TextPiece {
  if (piece.kind === 'text') return piece;
  const inLine = tryInLine(piece, scope);
  if (!inLine?.picture) return textPiece('x'.repeat(12));
  // A picture keeps its size if the letters get smaller.
  return { ...inLine, picture: { ...inLine.picture, width: inLine.picture.width / smallest } };
}

function cellOf(nodes: readonly LaidOutNode[]): { node: Record<string, unknown>; height: number } {
  const height = nodes.reduce((sum, placed) => sum + placed.height, 0);
  const [first] = nodes;
  if (!first) return { node: { text: '' }, height };
  return { node: nodes.length === 1 ? first.node : { stack: nodes.map(({ node }) => node) }, height };
}

/** With a little more, for kerning and rounding. */
function scaledNeed({ part, word, whole }: TextWidth, size: number): TextWidth {
  const scaled = (width: number) => width * size * 1.02 + 0.5;
  return { part: scaled(part), word: scaled(word), whole: scaled(whole) };
}

/** The smallest letters of a table, in points. */
const smallest = 8;
const fontSizes = [sizes.table, 8.6, smallest];

/**
 * The columns that stand side by side: all of them, or the first one with as many others as fit without cutting words
 * at the smallest size. So each group can be read on its own. Groups have about the same number of columns.
 * @param needs at a font size of 1
 * @param width of the page, in points
 */
function groupsOf(needs: readonly TextWidth[], width: number): number[][] {
  const padding = 2 * tablePadding.x;
  // The first and the last column have no padding at their outer side.
  const room = width + padding + 0.1;
  const widths = needs.map((need) => {
    const least = Math.max(narrowest, scaledNeed(need, smallest).part + padding);
    return Math.min(least, room / alwaysWhole);
  });
  const fits = (columns: readonly number[]) => sum(columns.map((column) => widths[column] ?? 0)) <= room;
  const all = [...needs.keys()];
  if (fits(all)) return [all];
  const groups: number[][] = [];
  for (const column of all.slice(1)) {
    const last = groups.at(-1);
    if (last && fits([...last, column])) last.push(column);
    else groups.push([0, column]);
  }
  const size = Math.ceil((needs.length - 1) / groups.length);
  const even = groups.map((_, at) => [0, ...all.slice(1 + at * size, 1 + (at + 1) * size)]);
  return even.every((group) => group.length > 1 && fits(group)) ? even : groups;
}

/** The least width of a column, with its padding. */
const narrowest = 38;
/** A table of so many columns stays whole, and its longest words are cut. */
const alwaysWhole = 6;

/**
 * Widths for the columns of a table, which together take at most the room. A table that fits keeps its widths, and is
 * stretched if it nearly fills the room. Otherwise each column gets what its longest word needs, or its longest part if
 * words take too much, and the rest goes to the columns with the most text.
 */
function columnWidths(needs: readonly TextWidth[], room: number): number[] {
  const whole = sum(needs.map((need) => need.whole));
  if (whole <= room) {
    const factor = whole > room * 0.55 ? room / whole : Math.min(1.35, room / whole);
    return needs.map((need) => need.whole * factor);
  }
  const words = needs.map((need) => Math.min(need.word, room * 0.4));
  if (sum(words) <= room * 0.85) return grown(needs, words, room);
  const parts = needs.map((need) => Math.min(need.part, room * 0.5));
  return sum(parts) >= room ? shrunk(parts, room) : grown(needs, parts, room);
}

/** Narrow columns keep their width, and the widest are cut to one width. */
function shrunk(least: readonly number[], room: number): number[] {
  let limit = room;
  let left = room;
  const sorted = [...least].sort((a, b) => a - b);
  for (const [index, width] of sorted.entries()) {
    limit = left / (sorted.length - index);
    if (width > limit) break;
    left -= width;
  }
  return least.map((width) => Math.min(width, limit));
}

/**
 * Shares the rest in proportion to a power below 1 of what each column still needs, so that long ones do not take it
 * all.
 */
function grown(needs: readonly TextWidth[], least: readonly number[], room: number): number[] {
  const widths = [...least];
  for (let round = 0; round < 8; round++) {
    const left = room - sum(widths);
    if (left < 0.5) break;
    const wants = needs.map((need, index) => Math.max(0, need.whole - (widths[index] ?? 0)) ** 0.75);
    const total = sum(wants);
    if (total === 0) break;
    for (const [index, want] of wants.entries()) {
      const width = widths[index] ?? 0;
      widths[index] = Math.min(Math.max(width, needs[index]?.whole ?? 0), width + (left * want) / total);
    }
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** A cell that another one covers has no pieces. */
export interface PlainCell {
  readonly pieces: readonly Piece[];
  readonly align?: 'left' | 'center' | 'right' | undefined;
  readonly colSpan?: number;
  readonly rowSpan?: number;
}

/** A table whose cells have their places. */
export interface PlainTable {
  /** For its direction. */
  readonly text: string;
  readonly rows: readonly (readonly PlainCell[])[];
  readonly heads: number;
}

const maxCells = 1_000_000;

/** Puts each cell of a table of raw HTML into its place. */
function gridOf({ raw, rows, heads }: HtmlTable, bookmarks: Bookmarks): PlainTable {
  const grid: PlainCell[][] = rows.map(() => []);
  for (const [at, cells] of rows.entries()) {
    let column = 0;
    for (const cell of cells) {
      while (grid[at]?.[column] !== undefined) column += 1;
      const rowSpan = Math.min(cell.rowSpan, rows.length - at);
      for (const row of grid.slice(at, at + rowSpan))
        for (let over = 0; over < cell.colSpan; over += 1) row[column + over] ??= { pieces: [] };
      const own = grid[at];
      if (own) own[column] = { ...plainCell(cell, bookmarks), colSpan: cell.colSpan, rowSpan };
      column += cell.colSpan;
    }
  }
  // A column in which no cell begins has no width of its own.
  const starts = new Set(grid.flatMap((row) => row.flatMap(({ colSpan }, at) => (colSpan ? [at] : []))));
  const columns = [...starts].sort((one, other) => one - other);
  if (columns.length * grid.length > maxCells)
    throw new UnrenderableError('A table has more than 1,000,000 cells. Split it into smaller tables.');
  /** How many columns begin before a place, from one of them on. Those of a row are each passed once. */
  const columnsBefore = (end: number, first: number) => {
    let last = first;
    while ((columns[last] ?? end) < end) last += 1;
    return last - first;
  };
  const shown = grid.map((row) =>
    columns.map((at, index): PlainCell => {
      const { colSpan, ...cell }: PlainCell = row[at] ?? { pieces: [] };
      return colSpan ? { ...cell, colSpan: columnsBefore(at + colSpan, index) } : cell;
    }),
  );
  return { text: raw, heads, rows: shown };
}

function plainCell({ tokens, isHeader, align }: HtmlCell, bookmarks: Bookmarks): PlainCell {
  const lines = tokens.flatMap((token) => linesOf(token, bookmarks, isHeader ? { bold: true } : {}));
  return { pieces: joined(lines), align };
}

/** The lines of a cell: its paragraphs, and the items of its lists. */
function linesOf(token: Token, bookmarks: Bookmarks, mark: Mark): readonly (readonly Piece[])[] {
  const inner = (tokens: readonly Token[]) => tokens.flatMap((one) => linesOf(one, bookmarks, mark));
  switch (token.type) {
    case 'space':
    case 'def':
      return [];
    case 'html':
      return htmlParagraphs(token.raw, bookmarks);
    case 'list':
      return (token as Tokens.List).items.map(({ tokens }) => [
        textPiece('•\u00a0', mark),
        ...joined(inner(tokens)),
      ]);
    case 'blockquote':
      return inner((token as Tokens.Blockquote).tokens);
    case 'htmlTable':
      return (token as unknown as HtmlTable).rows.map((row) =>
        row.flatMap(({ tokens }) => [...joined(inner(tokens)), textPiece(' ', mark)]),
      );
    case 'figure':
    case 'definitions':
      return (token as unknown as HtmlParts).parts.flatMap(({ tokens }) => inner(tokens));
    case 'code':
      return [[textPiece((token as Tokens.Code).text, { ...mark, code: true })]];
    default:
      return [inlinePieces((token as Tokens.Text).tokens ?? [token], bookmarks, mark)];
  }
}

function joined(lines: readonly (readonly Piece[])[]): readonly Piece[] {
  const shown = lines.filter((pieces) => pieces.length > 0);
  return shown.flatMap((pieces, at) => (at === 0 ? pieces : [textPiece('\n'), ...pieces]));
}
