import type { AccessDatabase } from './accessDatabase.ts';
import { type Grant, insertGrant, type NewToken, readScopes, type ScopesAsText } from './accessToken.ts';

/** The grants, and the hashes of their access tokens. */
export type TokenStore = ReturnType<typeof createTokenStore>;

/** A grant with the name that its owner gave it. */
export interface ListedGrant extends Grant {
  readonly name: string | null;
}

/** Milliseconds for which expired grants stay in the list. */
const expiredGrantTime = 30 * 86_400_000;

export function createTokenStore(database: AccessDatabase) {
  return {
    /** Adds a token with a grant of its own. */
    add: ({ hash, name, grant }: NewToken): Promise<void> =>
      database.batch([
        ['DELETE FROM docs_grants WHERE expires < ?', grant.created - expiredGrantTime],
        ['DELETE FROM docs_access_tokens WHERE expires < ?', grant.created - expiredGrantTime],
        insertGrant(grant, name, null),
        [
          'INSERT INTO docs_access_tokens (hash, grant_id, scopes, created, expires) VALUES (?, ?, ?, ?, ?)',
          ...[hash, grant.id, grant.scopes.join(' '), grant.created, grant.expires],
        ],
      ]),
    /** The grant of an access token, even an expired one; undefined for one that is unknown or revoked. */
    async find(hash: string): Promise<Grant | undefined> {
      const [row] = await database.rows<ScopesAsText<Grant>>(
        `SELECT docs_grants.id, docs_grants.client, docs_grants.me, docs_grants.last_used AS "lastUsed",
           docs_access_tokens.scopes, docs_access_tokens.created, docs_access_tokens.expires
         FROM docs_access_tokens JOIN docs_grants ON docs_grants.id = docs_access_tokens.grant_id
         WHERE docs_access_tokens.hash = ?`,
        hash,
      );
      return row && readScopes(row);
    },
    /** The newest first; without the grants of clients that never fetched their tokens. */
    async list(): Promise<readonly ListedGrant[]> {
      const rows = await database.rows<ScopesAsText<ListedGrant>>(
        `SELECT id, client, scopes, me, created, expires, last_used AS "lastUsed", name FROM docs_grants
         WHERE NOT EXISTS (SELECT 1 FROM docs_codes WHERE docs_codes.grant_id = docs_grants.id AND used IS NULL)
         ORDER BY created DESC, id`,
      );
      return rows.map(readScopes);
    },
    /** Ends all tokens of a grant. False if there is no such grant. */
    async revoke(id: string): Promise<boolean> {
      const rows = await database.rows('DELETE FROM docs_grants WHERE id = ? RETURNING id', id);
      return rows.length > 0;
    },
    /** When grants were last used, by their ids. */
    noteUses: (uses: ReadonlyMap<string, number>): Promise<void> =>
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
