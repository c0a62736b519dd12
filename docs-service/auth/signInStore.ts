import type { AccessDatabase, AccessStatement } from './accessDatabase.ts';
import { type Grant, insertGrant, readScopes, type Scope, type ScopesAsText } from './accessTokens.ts';

/** The authorization codes and refresh tokens of clients, by their hashes. */
export type SignInStore = ReturnType<typeof createSignInStore>;

export interface Code {
  /** Null if the code only says who the owner is. */
  readonly grant: string | null;
  readonly client: string;
  readonly redirectUri: string;
  readonly challenge: string;
  /** Empty if the client only learns who the owner is. */
  readonly scopes: readonly Scope[];
  readonly expires: number;
  /** The owner's epoch, read before the check that the owner is signed in. */
  readonly epoch: number;
  readonly isUsed: boolean;
}

export interface NewCode extends Omit<Code, 'isUsed' | 'grant'> {
  readonly hash: string;
  /** The code's grant; undefined if the code only says who the owner is. */
  readonly grant: Grant | undefined;
}

interface RefreshToken extends Grant {
  /** When another token replaced this one; null while it is the newest. */
  readonly rotated: number | null;
  /** When the first of the tokens that replaced this one was itself replaced; null while none is. */
  readonly successorRotated: number | null;
}

export interface NewTokens {
  readonly grant: string;
  /** The scopes of the access token. */
  readonly scopes: readonly Scope[];
  readonly now: number;
  readonly access: { readonly hash: string; readonly expires: number };
  readonly refresh: {
    readonly hash: string;
    readonly expires: number;
    /** The hash of the refresh token that it replaces. */
    readonly parent?: string | undefined;
  };
}

/** Milliseconds for which a used code is remembered, so that a second use is noticed. */
const usedCodeLifetime = 86_400_000;

export function createSignInStore(database: AccessDatabase) {
  return {
    /** Stores a code and its grant, which allows nothing before the code is used. */
    addCode: (code: NewCode, now: number): Promise<void> => {
      const { hash, grant, client, redirectUri, challenge, scopes, expires, epoch } = code;
      return database.batch([
        ...forgetOld(now),
        ...(grant === undefined ? [] : [insertGrant(grant, null, epoch)]),
        [
          `INSERT INTO docs_codes (hash, grant_id, client, redirect_uri, challenge, scopes, expires, epoch)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[hash, grant?.id ?? null, client, redirectUri, challenge, scopes.join(' '), expires, epoch],
        ],
      ]);
    },
    async findCode(hash: string): Promise<Code | undefined> {
      const [row] = await database.rows<ScopesAsText<Omit<Code, 'isUsed'> & { used: number | null }>>(
        `SELECT grant_id AS "grant", client, redirect_uri AS "redirectUri", challenge, scopes, expires, epoch, used
         FROM docs_codes WHERE hash = ? AND epoch = coalesce((SELECT epoch FROM docs_owner), 0)`,
        hash,
      );
      return row && { ...readScopes(row), isUsed: row.used !== null };
    },
    /** Marks the code as used. False if it was used before. */
    async useCode(hash: string, now: number): Promise<boolean> {
      const rows = await database.rows(
        'UPDATE docs_codes SET used = ? WHERE hash = ? AND used IS NULL RETURNING hash',
        now,
        hash,
      );
      return rows.length > 0;
    },
    /** The token with its grant, but when it expires itself. */
    async findRefreshToken(hash: string) {
      const [row] = await database.rows<ScopesAsText<RefreshToken>>(
        `SELECT docs_grants.id, client, scopes, me, created, last_used AS "lastUsed",
           docs_refresh_tokens.expires, docs_refresh_tokens.rotated,
           (SELECT min(successors.rotated) FROM docs_refresh_tokens AS successors
            WHERE successors.grant_id = docs_grants.id AND successors.parent = docs_refresh_tokens.hash
           ) AS "successorRotated"
         FROM docs_refresh_tokens JOIN docs_grants ON docs_grants.id = docs_refresh_tokens.grant_id
         WHERE docs_refresh_tokens.hash = ? AND docs_grants.epoch = coalesce((SELECT epoch FROM docs_owner), 0)`,
        hash,
      );
      if (row === undefined) return undefined;
      const { rotated, successorRotated, ...grant } = readScopes(row);
      return { grant, rotated, successorRotated };
    },
    /** Marks the token as replaced, unless it already is. */
    async rotate(hash: string, now: number): Promise<void> {
      await database.rows(
        'UPDATE docs_refresh_tokens SET rotated = ? WHERE hash = ? AND rotated IS NULL',
        now,
        hash,
      );
    },
    /** False if the grant was revoked meanwhile; then the tokens allow nothing. */
    addTokens: (tokens: NewTokens) => addTokens(database, tokens),
  };
}

function forgetOld(now: number): readonly AccessStatement[] {
  return [
    [
      `DELETE FROM docs_grants WHERE id IN
         (SELECT grant_id FROM docs_codes WHERE used IS NULL AND grant_id IS NOT NULL AND expires < ?)`,
      now,
    ],
    ['DELETE FROM docs_codes WHERE expires < ?', now - usedCodeLifetime],
    ['DELETE FROM docs_refresh_tokens WHERE expires < ?', now],
    ['DELETE FROM docs_grants WHERE client IS NOT NULL AND expires < ?', now - 30 * usedCodeLifetime],
  ];
}

/** Each token comes from the row of its grant, so no token outlives a grant that is revoked at the same time. */
async function addTokens(
  database: AccessDatabase,
  { grant, scopes, now, access, refresh }: NewTokens,
): Promise<boolean> {
  const alive = await database.rows(
    'UPDATE docs_grants SET expires = ?, last_used = ? WHERE id = ? RETURNING id',
    refresh.expires,
    now,
    grant,
  );
  if (alive.length === 0) return false;
  await database.batch([
    ['DELETE FROM docs_access_tokens WHERE grant_id = ? AND expires < ?', grant, now],
    [
      `INSERT INTO docs_access_tokens (hash, grant_id, scopes, created, expires)
       SELECT CAST(? AS TEXT), id, CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT)
       FROM docs_grants WHERE id = ?`,
      ...[access.hash, scopes.join(' '), now, access.expires, grant],
    ],
    [
      `INSERT INTO docs_refresh_tokens (hash, grant_id, expires, parent)
       SELECT CAST(? AS TEXT), id, CAST(? AS BIGINT), CAST(? AS TEXT) FROM docs_grants WHERE id = ?`,
      ...[refresh.hash, refresh.expires, refresh.parent ?? null, grant],
    ],
    keepNewest('docs_access_tokens', grant),
    keepNewest('docs_refresh_tokens', grant),
  ]);
  return true;
}

/** Tokens that are kept for one grant, so that a client that refreshes without end fills nothing. */
const maxTokens = 1_000;

function keepNewest(table: 'docs_access_tokens' | 'docs_refresh_tokens', grant: string): AccessStatement {
  return [
    `DELETE FROM ${table} WHERE hash IN
       (SELECT hash FROM ${table} WHERE grant_id = ? ORDER BY expires DESC LIMIT 1000000 OFFSET ${maxTokens})`,
    grant,
  ];
}
