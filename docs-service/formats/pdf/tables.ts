import type { Tokens } from 'marked';
import { directionOf, inOrder } from './directions.ts';
import { inlinePieces, type Mark, type Piece, type TextPiece } from './inlines.ts';
import type { Block, Scope } from './layout.ts';
import { fromPageMargin, type Placed, paragraphNodes, type TextLook } from './paragraphs.ts';
import { pitch, sizes, tableLayout, tablePadding, textHeight } from './style.ts';

/** A table, or several below each other if it has more columns than fit on the page. */
export function tableBlocks(table: Tokens.Table, scope: Scope): Block[] {
  const columns = table.header.length;
  const most = Math.max(2, Math.floor((scope.width + tablePadding.x * 2) / narrowest));
  if (columns <= most) return [tableBlock(table, range(0, columns), scope)];
  const groups: number[][] = [];
  for (let from = 1; from < columns; from += most - 1) {
    groups.push([0, ...range(from, Math.min(columns, from + most - 1))]);
  }
  return groups.map((group) => tableBlock(table, group, scope));
}

/** The least width of a column, with its padding. */
const narrowest = 38;

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

function tableBlock(table: Tokens.Table, chosen: readonly number[], scope: Scope): Block {
  const direction = directionOf(table.raw);
  const columns = inOrder(chosen, direction);
  const side = direction === 'rtl' ? 'right' : undefined;
  const rows = piecesOf(table, columns, scope);
  const room = scope.width - 2 * tablePadding.x * (columns.length - 1);
  const { widths, fontSize } = fittingWidths(rows, room, scope);
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

function piecesOf(table: Tokens.Table, columns: readonly number[], { inline }: Scope): Piece[][][] {
  const row = (cells: readonly Tokens.TableCell[], mark: Mark) =>
    columns.map((column) => inlinePieces(cells[column]?.tokens ?? [], inline, mark));
  return [row(table.header, { bold: true }), ...table.rows.map((cells) => row(cells, {}))];
}

/** Uses smaller letters if words would have to be cut. */
function fittingWidths(rows: readonly Piece[][][], room: number, { type }: Scope) {
  const count = rows[0]?.length ?? 0;
  const needs = Array.from({ length: count }, () => ({ part: 0, word: 0, whole: 0 }));
  for (const row of rows) {
    for (const [index, pieces] of row.entries()) {
      const need = needs[index];
      if (!need) continue;
      const width = type.width(pieces.flatMap(measured), 1);
      need.part = Math.max(need.part, width.part);
      need.word = Math.max(need.word, width.word);
      need.whole = Math.max(need.whole, width.whole);
    }
  }
  const scaled = (size: number): ColumnNeed[] => needs.map((need) => scaledNeed(need, size));
  const fits = (size: number) => scaled(size).reduce((sum, { part }) => sum + part, 0) <= room;
  const fontSize = fontSizes.find(fits) ?? fontSizes.at(-1) ?? sizes.table;
  return { fontSize, widths: columnWidths(scaled(fontSize), room) };
}

/** With a little more, for kerning and rounding. */
function scaledNeed({ part, word, whole }: ColumnNeed, size: number): ColumnNeed {
  const scaled = (width: number) => width * size * 1.02 + 0.5;
  return { part: scaled(part), word: scaled(word), whole: scaled(whole) };
}

const fontSizes = [sizes.table, 8.6, 8];

function measured(piece: Piece): TextPiece[] {
  if (piece.kind === 'text') return [piece];
  return [{ kind: 'text', text: 'x'.repeat(12), mark: {} }];
}

function cellOf(nodes: readonly Placed[]): { node: Record<string, unknown>; height: number } {
  const height = nodes.reduce((sum, placed) => sum + placed.height, 0);
  const [first] = nodes;
  if (!first) return { node: { text: '' }, height };
  return { node: nodes.length === 1 ? first.node : { stack: nodes.map(({ node }) => node) }, height };
}

/** In points. */
interface ColumnNeed {
  /** The width of the longest part that is not broken. */
  readonly part: number;
  /** The width of the longest word. */
  readonly word: number;
  /** The width of the longest line without breaks. */
  readonly whole: number;
}

/**
 * Widths for the columns of a table, which together take at most the room. A table that fits keeps its widths, and is
 * stretched if it nearly fills the room. Otherwise each column gets what its longest word needs, or its longest part if
 * words take too much, and the rest goes to the columns with the most text.
 */
function columnWidths(needs: readonly ColumnNeed[], room: number): number[] {
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
 * Shares the rest in proportion to the square root of what each column still needs, so that long ones do not take it
 * all.
 */
function grown(needs: readonly ColumnNeed[], least: readonly number[], room: number): number[] {
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
