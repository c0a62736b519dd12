import type { Database } from '../sqliteDatabase.ts';
import type { Grant } from './accessToken.ts';
import { type GrantRow, rowToGrant } from './grantRow.ts';
import type { TokenStore } from './tokenStore.ts';

/** Each entry leads from one version of the file to the next; `user_version` counts them. */
const migrations: readonly string[] = [
  `CREATE TABLE tokens (
    hash TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    me TEXT,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    last_used INTEGER
  ) STRICT`,
];

/** Milliseconds for which tokens that have expired stay in the list. */
const remembered = 30 * 86_400_000;

/** Keeps tokens in `access.db`. Reading one by its hash takes some microseconds, so it needs no thread of its own. */
export function createSqliteTokenStore(database: Database): TokenStore {
  migrate(database);
  const add = database.prepare(
    'INSERT INTO tokens (hash, id, scopes, me, created, expires, last_used) VALUES (?, ?, ?, ?, ?, ?, NULL)',
  );
  const forget = database.prepare('DELETE FROM tokens WHERE expires < ?');
  const find = database.prepare<GrantRow>('SELECT * FROM tokens WHERE hash = ?');
  const list = database.prepare<GrantRow>('SELECT * FROM tokens ORDER BY created DESC, id');
  const revoke = database.prepare('DELETE FROM tokens WHERE id = ? RETURNING id');
  const note = database.prepare('UPDATE tokens SET last_used = max(?, coalesce(last_used, 0)) WHERE id = ?');
  return {
    async add({ hash, grant }: { readonly hash: string; readonly grant: Grant }) {
      database.transaction(() => {
        forget.run(grant.created - remembered);
        add.run(hash, grant.id, grant.scopes.join(' '), grant.me, grant.created, grant.expires);
      });
    },
    async find(hash) {
      const row = find.get(hash);
      return row === undefined ? undefined : rowToGrant(row);
    },
    async list() {
      return list.all().map(rowToGrant);
    },
    async revoke(id) {
      return revoke.all(id).length > 0;
    },
    async noteUses(uses) {
      database.transaction(() => {
        for (const [id, at] of uses) note.run(at, id);
      });
    },
    async close() {
      // So that the file alone has everything, where somebody copies it.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      database.close();
    },
  };
}

/** Throws where a newer version of the program made the file. */
function migrate(database: Database): void {
  database.transaction(() => {
    const version =
      database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0;
    if (version > migrations.length)
      throw new Error(
        'access.db was made by a newer version of runner-docs. Update this one, or use another --data.',
      );
    for (const step of migrations.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}
