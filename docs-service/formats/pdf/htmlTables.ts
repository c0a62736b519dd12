import type { Token, Tokens } from 'marked';
import type { HtmlCell, HtmlParts, HtmlTable } from '../markdown/htmlBlocks.ts';
import { UnrenderableError } from '../renderJob.ts';
import type { Bookmarks } from './bookmarks.ts';
import { htmlParagraphs, inlinePieces } from './inlines.ts';
import { type Mark, type Piece, textPiece } from './pieces.ts';

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
export function gridOf({ raw, rows, heads }: HtmlTable, bookmarks: Bookmarks): PlainTable {
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
