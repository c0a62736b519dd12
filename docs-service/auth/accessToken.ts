import { createHash, randomBytes } from 'node:crypto';
import type { Scope } from './scope.ts';

/** What a bearer of a token may do, and until when. */
export interface Grant {
  /** Names the token in lists and in `token revoke`; it says nothing of the token itself. */
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** Whose token it is: a profile URL. */
  readonly me: string | null;
  /** Milliseconds since 1970, as all times here. */
  readonly created: number;
  readonly expires: number;
  /** Within a minute of the truth. */
  readonly lastUsed: number | null;
}

/** A token and the grant that is kept for it; only the hash of the token is kept. */
export interface NewToken {
  readonly token: string;
  readonly hash: string;
  readonly grant: Grant;
}

export interface TokenOptions {
  readonly scopes: readonly Scope[];
  readonly me?: string;
  /** Milliseconds. No token lives for ever. */
  readonly lifetime: number;
  readonly now: number;
}

export function createToken({ scopes, me, lifetime, now }: TokenOptions): NewToken {
  // The prefix lets scanners for leaked secrets know it. 256 bits cannot be guessed, so a plain hash is enough.
  const token = `rdocs_${randomBytes(32).toString('base64url')}`;
  const id = randomBytes(6).toString('hex');
  const grant = { id, scopes, me: me ?? null, created: now, expires: now + lifetime, lastUsed: null };
  return { token, hash: hashToken(token), grant };
}

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
