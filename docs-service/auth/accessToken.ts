import { createHash, randomBytes } from 'node:crypto';
import type { AccessStatement } from './accessDatabase.ts';

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

interface TokenOptions {
  /** What its owner calls it in `token list`. */
  readonly name?: string | null;
  readonly scopes: readonly Scope[];
  readonly me?: string | null;
  /** Milliseconds. Every token expires. */
  readonly lifetime: number;
  readonly now: number;
}

/** A token without a client, as `token create` makes it. */
export function createToken({ name = null, scopes, me = null, lifetime, now }: TokenOptions) {
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
