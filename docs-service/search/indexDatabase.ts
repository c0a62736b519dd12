/** A value in a statement. A list is for `any`. */
export type SqlValue = string | number | boolean | null | Uint8Array | readonly string[] | readonly number[];

export type IndexRow = Readonly<Record<string, SqlValue>>;

/** The index in one transaction. SQLite and PostgreSQL run the same statements; `?` stands for a value. */
export interface IndexDatabase {
  readonly dialect: SqlDialect;
  rows<Row>(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /**
   * Inserts rows, each with the same columns.
   * @param more what follows the rows in the statement, such as `ON CONFLICT …`
   */
  insert(table: string, rows: readonly IndexRow[], more?: string): Promise<void>;
  /** Deletes the rows that have all of these values. */
  remove(table: string, rows: readonly IndexRow[]): Promise<void>;
}

/** What the engines write differently. */
export interface SqlDialect {
  /** Whether a column has one of the values of a list. */
  any(column: string): string;
  /** The texts of all rows as one text, each in a line. */
  lines(text: string): string;
  /** Selects `slug`, `title` and `draft` of the first tags of each document. */
  readonly tags: string;
  /** A value of the JSON in `metadata`, as text. */
  metadata(name: string): string;
}

export async function readMeta(database: IndexDatabase, name: string): Promise<string | undefined> {
  const statement = 'SELECT value FROM docs_meta WHERE name = ?';
  return (await database.rows<{ value: string }>(statement, name))[0]?.value;
}

export async function readState(database: IndexDatabase): Promise<LibraryState> {
  const statement = "SELECT name, value FROM docs_meta WHERE name IN ('indexId', 'changes')";
  const rows = await database.rows<{ name: string; value: string }>(statement);
  const meta = new Map(rows.map(({ name, value }) => [name, value]));
  return { indexId: meta.get('indexId') ?? '', changes: Number(meta.get('changes') ?? 0) };
}

/** Returns whether the text was different before. */
export async function writeMeta(database: IndexDatabase, name: string, value: string): Promise<boolean> {
  if ((await readMeta(database, name)) === value) return false;
  const more = 'ON CONFLICT (name) DO UPDATE SET value = excluded.value';
  await database.insert('docs_meta', [{ name, value }], more);
  return true;
}

/** One state of the library. */
export interface LibraryState {
  /** A rebuilt index has another one. */
  readonly indexId: string;
  /** How many changes readers have seen since then. */
  readonly changes: number;
}

export function createChanges() {
  const listeners = new Set<() => void>();
  let generation = 0;
  let latest: LibraryState | undefined;
  return {
    generation: () => generation,
    onDidChange: (listener: () => void) => {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
    /** The state that an answer was read from. Answers may arrive in another order than they were read. */
    onState: (state: LibraryState) => {
      if (latest?.indexId === state.indexId && state.changes <= latest.changes) return;
      const isFirst = latest === undefined;
      latest = state;
      generation++;
      if (!isFirst) for (const listener of [...listeners]) listener();
    },
    clear: () => listeners.clear(),
  };
}
