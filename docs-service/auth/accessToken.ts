import { createHash, randomBytes } from 'node:crypto';

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

/** A secret that is shown once. Only its hash is kept. */
interface Secret {
  readonly text: string;
  readonly hash: string;
}

/** The prefix of a secret, by which scanners find leaked ones. */
type SecretKind = 'rdocs' | 'rdocs_refresh' | 'rdocs_code' | 'rdocs_session';

/** 256 bits cannot be guessed, so a plain hash is enough. */
export function createSecret(kind: SecretKind): Secret {
  const text = `${kind}_${randomBytes(32).toString('base64url')}`;
  return { text, hash: hashSecret(text) };
}

export function hashSecret(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A token and its grant, as they are stored. */
export interface NewToken {
  /** What its owner calls it in `token list`; null without a name. */
  readonly name: string | null;
  readonly token: string;
  readonly hash: string;
  readonly grant: Grant;
}

interface TokenOptions {
  readonly name?: string;
  readonly scopes: readonly Scope[];
  readonly me?: string;
  /** Milliseconds. Every token expires. */
  readonly lifetime: number;
  readonly now: number;
}

/** A token without a client, as `token create` makes it. */
export function createToken({ name, scopes, me, lifetime, now }: TokenOptions): NewToken {
  const { text, hash } = createSecret('rdocs');
  const times = { created: now, expires: now + lifetime, lastUsed: null };
  return {
    token: text,
    hash,
    name: name ?? null,
    grant: { id: createGrantId(), scopes, me: me ?? null, client: null, ...times },
  };
}

export function createGrantId(): string {
  return randomBytes(6).toString('hex');
}

/** What a token allows. `read` and `draft` are this service's, the other two IndieAuth's. */
export const scopes = ['read', 'draft', 'profile', 'email'] as const;

export type Scope = (typeof scopes)[number];

export function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text);
}
