import type { AccessDatabase } from './accessDatabase.ts';
import { type Grant, isScope, type NewToken } from './accessToken.ts';

/** The grants, and the hashes of their access tokens. */
export interface TokenStore {
  /** Adds a token with a grant of its own. */
  add(token: Pick<NewToken, 'hash' | 'grant'> & Partial<Pick<NewToken, 'name'>>): Promise<void>;
  /** The grant of an access token, even an expired one; undefined for one that is unknown or revoked. */
  find(hash: string): Promise<Grant | undefined>;
  /** The newest first; without the grants of clients that never fetched their tokens. */
  list(): Promise<readonly ListedGrant[]>;
  /** Ends all tokens of a grant. False if there is no such grant. */
  revoke(id: string): Promise<boolean>;
  /** When grants were last used, by their ids. */
  noteUses(uses: ReadonlyMap<string, number>): Promise<void>;
}

/** A grant with the name that its owner gave it. */
export interface ListedGrant extends Grant {
  readonly name: string | null;
}

/** Milliseconds for which expired grants stay in the list. */
const expiredGrantTime = 30 * 86_400_000;

export function createTokenStore(database: AccessDatabase): TokenStore {
  return {
    add: ({ hash, name = null, grant: { id, scopes, me, client, created, expires } }) =>
      database.batch([
        ['DELETE FROM docs_grants WHERE expires < ?', created - expiredGrantTime],
        ['DELETE FROM docs_access_tokens WHERE expires < ?', created - expiredGrantTime],
        [
          'INSERT INTO docs_grants (id, client, scopes, me, created, expires, name) VALUES (?, ?, ?, ?, ?, ?, ?)',
          ...[id, client, scopes.join(' '), me, created, expires, name],
        ],
        [
          'INSERT INTO docs_access_tokens (hash, grant_id, scopes, created, expires) VALUES (?, ?, ?, ?, ?)',
          ...[hash, id, scopes.join(' '), created, expires],
        ],
      ]),
    async find(hash) {
      const [row] = await database.rows<GrantRow>(
        `SELECT docs_grants.id, docs_grants.client, docs_grants.me, docs_grants.last_used,
           docs_access_tokens.scopes, docs_access_tokens.created, docs_access_tokens.expires
         FROM docs_access_tokens JOIN docs_grants ON docs_grants.id = docs_access_tokens.grant_id
         WHERE docs_access_tokens.hash = ?`,
        hash,
      );
      return row === undefined ? undefined : rowToGrant(row);
    },
    async list() {
      const rows = await database.rows<GrantRow & Pick<ListedGrant, 'name'>>(
        `SELECT id, client, scopes, me, created, expires, last_used, name FROM docs_grants
         WHERE NOT EXISTS (SELECT 1 FROM docs_codes WHERE docs_codes.grant_id = docs_grants.id AND used IS NULL)
         ORDER BY created DESC, id`,
      );
      return rows.map((row) => ({ ...rowToGrant(row), name: row.name }));
    },
    async revoke(id) {
      const rows = await database.rows('DELETE FROM docs_grants WHERE id = ? RETURNING id', id);
      return rows.length > 0;
    },
    noteUses: (uses) =>
      // Always in the same order, so that no two instances block each other.
      database.batch(
        [...uses]
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([id, at]) => [
            'UPDATE docs_grants SET last_used = ? WHERE id = ? AND (last_used IS NULL OR last_used < ?)',
            at,
            id,
            at,
          ]),
      ),
  };
}

interface GrantRow {
  readonly id: string;
  readonly client: string | null;
  /** Separated by spaces. */
  readonly scopes: string;
  readonly me: string | null;
  readonly created: number;
  readonly expires: number;
  readonly last_used: number | null;
}

function rowToGrant({ last_used, scopes, ...row }: GrantRow): Grant {
  return { ...row, scopes: scopes.split(' ').filter(isScope), lastUsed: last_used };
}
