import { createHash, randomBytes } from 'node:crypto';
import type { AccessDatabase, AccessStatement } from './accessDatabase.ts';

/** What a bearer of a token may do, and until when. */
export interface Grant {
  /** The name of the grant in lists and in `token revoke`; it reveals nothing about the grant's tokens. */
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** The profile URL of the token's user; null for the owner. */
  readonly me: string | null;
  /** The program that the owner granted it to; null for a token of `token create`. */
  readonly client: string | null;
  /** Milliseconds since 1970, as all times here. */
  readonly created: number;
  readonly expires: number;
  /** Accurate to a minute. */
  readonly lastUsed: number | null;
}

/**
 * A secret that is shown once. Only its hash is kept: 256 bits cannot be guessed, so a plain one is enough.
 * @param kind its prefix, by which scanners find leaked ones
 */
export function createSecret(kind: 'rdocs' | 'rdocs_refresh' | 'rdocs_code' | 'rdocs_session') {
  const text = `${kind}_${randomBytes(32).toString('base64url')}`;
  return { text, hash: hashSecret(text) };
}

export function hashSecret(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export type NewToken = ReturnType<typeof createToken>;

/** A token without a client, as `token create` makes it. */
export function createToken({
  name = null,
  scopes,
  me = null,
  lifetime,
  now,
}: {
  /** What its owner calls it in `token list`. */
  readonly name?: string | null;
  readonly scopes: readonly Scope[];
  readonly me?: string | null;
  /** Milliseconds. Every token expires. */
  readonly lifetime: number;
  readonly now: number;
}) {
  const { text: token, hash } = createSecret('rdocs');
  const times = { created: now, expires: now + lifetime, lastUsed: null };
  const grant: Grant = { id: createGrantId(), scopes, me, client: null, ...times };
  return { token, hash, name, grant };
}

export function createGrantId(): string {
  return randomBytes(6).toString('hex');
}

/** A row of the database, which has the scopes as one text. */
export type ScopesAsText<Row> = Omit<Row, 'scopes'> & { readonly scopes: string };

export function readScopes<Row extends { readonly scopes: string }>({ scopes, ...row }: Row) {
  return { ...row, scopes: scopes.split(' ').filter(isScope) };
}

/** A grant has a name of its owner's, or ends with the epoch of the owner's password. */
export function insertGrant(
  { id, client, scopes, me, created, expires }: Grant,
  name: string | null,
  epoch: number | null,
): AccessStatement {
  return [
    `INSERT INTO docs_grants (id, client, scopes, me, created, expires, name, epoch)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, client, scopes.join(' '), me, created, expires, name, epoch],
  ];
}

/** What a token allows. `read` and `draft` are this service's, the other two IndieAuth's. */
export const scopes = ['read', 'draft', 'profile', 'email'] as const;

export type Scope = (typeof scopes)[number];

export function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text);
}

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

/** Milliseconds for which an answer of the store counts. A revoked token stops working within this time. */
const cacheTime = 800;
/** Milliseconds between two writes of when tokens were last used. */
const notePeriod = 60_000;
/** Answers that are cached at once. */
const capacity = 10_000;

/** Says what a bearer may do. It asks the store about once a second for each token, at most. */
export class TokenVerifier {
  readonly #known = new Map<string, { readonly until: number; readonly grant: Promise<Grant | undefined> }>();
  readonly #uses = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly options: {
      readonly store: TokenStore;
      /** Milliseconds since 1970. */
      readonly now: () => number;
      readonly onError: (error: Error) => void;
    },
  ) {
    this.#timer = setInterval(() => void this.#noteUses(), notePeriod).unref();
  }

  /** Undefined for a token that is unknown, revoked or expired. Rejects while the store is down. */
  async verify(token: string): Promise<Grant | undefined> {
    const now = this.options.now();
    const grant = await this.#find(hashSecret(token), now);
    if (grant === undefined || grant.expires <= now) return undefined;
    this.#uses.set(grant.id, now);
    return grant;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#noteUses();
  }

  #find(hash: string, now: number): Promise<Grant | undefined> {
    const known = this.#known.get(hash);
    // A clock that is set back must not keep a revoked token alive.
    if (known !== undefined && known.until > now && known.until <= now + cacheTime) return known.grant;
    if (this.#known.size >= capacity) this.#known.clear();
    const grant = this.options.store.find(hash);
    this.#known.set(hash, { until: now + cacheTime, grant });
    // A failure is no answer: the next request asks again.
    grant.catch(() => this.#known.delete(hash));
    return grant;
  }

  async #noteUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = new Map(this.#uses);
    this.#uses.clear();
    await this.options.store.noteUses(uses).catch(this.options.onError);
  }
}
