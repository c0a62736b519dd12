import type { Tokens } from 'marked';
import { directionOf, inOrder } from './directions.ts';
import { inlinePieces, type Mark, type Piece, type TextPiece } from './inlines.ts';
import type { Block, LayoutScope } from './layout.ts';
import { fromPageMargin, type LaidOutNode, paragraphNodes, type TextLook, tryInLine } from './paragraphs.ts';
import { pitch, sizes, tableLayout, tablePadding, textHeight } from './style.ts';
import { columnWidths, groupsOf, scaledNeed, smallest } from './tableWidths.ts';
import type { TextWidth } from './typesetter.ts';

/** A table, or several below each other if it has more columns than fit on the page. */
export function tableBlocks(table: Tokens.Table, scope: LayoutScope): Block[] {
  const rows = piecesOf(table, scope);
  const needs = needsOf(rows, scope);
  return groupsOf(needs, scope.width).map((group) => tableBlock({ table, rows, needs }, group, scope));
}

interface MeasuredTable {
  readonly table: Tokens.Table;
  readonly rows: readonly Piece[][][];
  /** At a font size of 1. */
  readonly needs: readonly TextWidth[];
}

function tableBlock(
  { table, rows: whole, needs }: MeasuredTable,
  chosen: readonly number[],
  scope: LayoutScope,
): Block {
  const direction = directionOf(table.raw);
  const columns = inOrder(chosen, direction);
  const side = direction === 'rtl' ? 'right' : undefined;
  const rows = whole.map((row) => columns.map((column) => row[column] ?? []));
  const room = scope.width - 2 * tablePadding.x * (columns.length - 1);
  const { widths, fontSize } = fittingWidths(
    columns.flatMap((column) => needs[column] ?? []),
    room,
  );
  const cells = rows.map((row) =>
    row.map((pieces, index) => {
      const align = table.align[columns[index] ?? 0] ?? side;
      const look: TextLook = { ...scope.look, fontSize, ...(align ? { alignment: align } : {}) };
      return cellOf(paragraphNodes(pieces, { ...scope, width: widths[index] ?? 0, indent: 0, look }));
    }),
  );
  const heights = cells.map((row) => Math.max(pitch(fontSize), ...row.map(({ height }) => height)) + padding);
  const hasHeader = rows[0]?.some((pieces) => pieces.length > 0) ?? false;
  const body = (hasHeader ? cells : cells.slice(1)).map((row) => row.map(({ node }) => node));
  const [header = 0, first = 0] = hasHeader ? heights : [0, heights[1] ?? 0];
  const height = heights.reduce((sum, row) => sum + row, 0);
  if (body.length === 0) body.push(columns.map(() => ({ text: '' })));
  const node = { table: { widths, body, ...breaking(heights, hasHeader) }, layout: tableLayout };
  const shift = side === 'right' ? room - widths.reduce((sum, width) => sum + width, 0) : 0;
  return {
    node: fromPageMargin(node, scope.indent, Math.max(0, shift)),
    lead: Math.min(header + first, textHeight * 0.4),
    height,
    before: 9,
    after: 11,
  };
}

const padding = 2 * tablePadding.y + 1;

/** A row that does not fit on a page must be divided. PDFMake would drop it if that were forbidden. */
function breaking(heights: readonly number[], hasHeader: boolean): Record<string, unknown> {
  const most = heights.reduce((highest, height) => Math.max(highest, height), 0);
  const dontBreakRows = most < textHeight * 0.3;
  const repeats = hasHeader && (heights[0] ?? 0) < textHeight * 0.25;
  const keeps = repeats && heights.length > 1 && (heights[1] ?? 0) < textHeight * 0.3;
  return {
    dontBreakRows,
    ...(repeats ? { headerRows: 1 } : {}),
    ...(keeps ? { keepWithHeaderRows: 1 } : {}),
  };
}

function piecesOf(table: Tokens.Table, { inline }: LayoutScope): Piece[][][] {
  const row = (cells: readonly Tokens.TableCell[], mark: Mark) =>
    cells.map(({ tokens }) => inlinePieces(tokens, inline, mark));
  return [row(table.header, { bold: true }), ...table.rows.map((cells) => row(cells, {}))];
}

/** Uses smaller letters if words would have to be cut. */
function fittingWidths(needs: readonly TextWidth[], room: number) {
  const scaled = (size: number): TextWidth[] => needs.map((need) => scaledNeed(need, size));
  const fits = (size: number) => scaled(size).reduce((sum, { part }) => sum + part, 0) <= room;
  const fontSize = fontSizes.find(fits) ?? smallest;
  return { fontSize, widths: columnWidths(scaled(fontSize), room) };
}

/** What each column needs at a font size of 1. */
function needsOf(rows: readonly Piece[][][], scope: LayoutScope): TextWidth[] {
  return (rows[0] ?? []).map((_, column) => {
    const widths = rows.map((row) =>
      scope.type.width(
        (row[column] ?? []).map((piece) => measured(piece, scope)),
        1,
      ),
    );
    const widest = (of: keyof TextWidth) => widths.reduce((most, width) => Math.max(most, width[of]), 0);
    return { part: widest('part'), word: widest('word'), whole: widest('whole') };
  });
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
