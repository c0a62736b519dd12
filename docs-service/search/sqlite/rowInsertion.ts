import { piecesOf } from '../../base/database.ts';
import type { Database, SqlValue } from '../../base/sqliteDatabase.ts';

/**
 * Inserts rows, many with one statement. FTS5 writes what it has gathered before such a statement, so it is for the end
 * of a transaction.
 */
export function createRowInsertion(
  database: Database,
  insert: string,
  columns: number,
  more = '',
): (rows: readonly (readonly SqlValue[])[]) => void {
  const row = `(${Array.from({ length: columns }, () => '?').join(', ')})`;
  const one = database.prepare(`${insert} ${row} ${more}`);
  const several = database.prepare(
    `${insert} ${Array.from({ length: rowsAtOnce }, () => row).join(', ')} ${more}`,
  );
  return (rows) => {
    for (const piece of piecesOf(rows, rowsAtOnce)) {
      if (piece.length === rowsAtOnce) several.run(...piece.flat());
      else for (const values of piece) one.run(...values);
    }
  };
}

const rowsAtOnce = 50;
