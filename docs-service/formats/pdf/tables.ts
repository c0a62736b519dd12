import type { Tokens } from 'marked';
import type { HtmlTable } from '../markdown/htmlBlocks.ts';
import { directionOf, inOrder } from './directions.ts';
import { gridOf, type PlainCell, type PlainTable } from './htmlTables.ts';
import { inlinePieces, type Mark, type Piece, type TextPiece } from './inlines.ts';
import type { Block, LayoutScope } from './layout.ts';
import { fromPageMargin, type LaidOutNode, paragraphNodes, type TextLook, tryInLine } from './paragraphs.ts';
import { pitch, sizes, tableLayout, tablePadding, textHeight } from './style.ts';
import { columnWidths, groupsOf, scaledNeed, smallest } from './tableWidths.ts';
import type { TextWidth } from './typesetter.ts';

/** A table, or several below each other if it has more columns than fit on the page. */
export function tableBlocks(table: Tokens.Table, scope: LayoutScope): Block[] {
  return setTable(markdownTable(table, scope), scope);
}

/** The same of raw HTML. */
export function htmlTableBlocks(table: HtmlTable, scope: LayoutScope): Block[] {
  return setTable(gridOf(table, scope.inline), scope);
}

function setTable(table: PlainTable, scope: LayoutScope): Block[] {
  if (table.rows.length === 0) return [];
  const needs = needsOf(table.rows, scope);
  return groupsOf(needs, scope.width).map((group) => tableBlock({ ...table, needs }, group, scope));
}

interface MeasuredTable extends PlainTable {
  /** At a font size of 1. */
  readonly needs: readonly TextWidth[];
}

function tableBlock(
  { text, rows: whole, heads, needs }: MeasuredTable,
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
function markdownTable({ header, rows, align, raw }: Tokens.Table, { inline }: LayoutScope): PlainTable {
  const row = (cells: readonly Tokens.TableCell[], mark: Mark) =>
    cells.map(({ tokens }, at) => ({
      pieces: inlinePieces(tokens, inline, mark),
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

const fontSizes = [sizes.table, 8.6, smallest];

function measured(piece: Piece, scope: LayoutScope): TextPiece {
  if (piece.kind === 'text') return piece;
  const inLine = tryInLine(piece, scope);
  if (!inLine?.picture) return { kind: 'text', text: 'x'.repeat(12), mark: {} };
  // A picture keeps its size if the letters get smaller.
  return { ...inLine, picture: { ...inLine.picture, width: inLine.picture.width / smallest } };
}

function cellOf(nodes: readonly LaidOutNode[]): { node: Record<string, unknown>; height: number } {
  const height = nodes.reduce((sum, placed) => sum + placed.height, 0);
  const [first] = nodes;
  if (!first) return { node: { text: '' }, height };
  return { node: nodes.length === 1 ? first.node : { stack: nodes.map(({ node }) => node) }, height };
}
