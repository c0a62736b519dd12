import type { Database, Statement } from '../sqliteDatabase.ts';
import type { AccessDatabase } from './accessDatabase.ts';
import { accessMigrations } from './accessSchema.ts';

/** `access.db`. A statement takes some microseconds there, so it needs no thread of its own. */
export function createSqliteAccess(database: Database): AccessDatabase {
  migrate(database);
  const statements = new Map<string, Statement<unknown>>();
  const prepared = (text: string) => {
    const statement = statements.get(text) ?? database.prepare(text);
    statements.set(text, statement);
    return statement;
  };
  return {
    // Who asks says what the rows are like.
    rows: async <Row>(text: string, ...values: readonly (string | number | null)[]) =>
      prepared(text).all(...values) as readonly Row[],
    async batch(all) {
      database.transaction(() => {
        for (const [text, ...values] of all) prepared(text).run(...values);
      });
    },
    async close() {
      // So that the file alone has everything, where somebody copies it.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
    },
  };
}

/** `user_version` counts the migrations. Throws where a newer version of the program made the file. */
function migrate(database: Database): void {
  database.transaction(() => {
    const version =
      database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0;
    if (version > accessMigrations.length)
      throw new Error(
        'access.db was made by a newer version of runner-docs. Update this one, or use another --data.',
      );
    // The first version of the file had another name for its one table.
    if (version === 1) database.exec('ALTER TABLE tokens RENAME TO docs_tokens');
    for (const step of accessMigrations.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${accessMigrations.length}`);
  });
}
