import { createHash } from 'node:crypto';
import {
  createGrantId,
  createSecret,
  type Grant,
  hashSecret,
  type Scope,
  type TokenStore,
} from './accessTokens.ts';
import { OAuthError } from './authErrors.ts';
import type { Code, NewCode, SignInStore } from './signInStore.ts';

interface TokenIssuerOptions {
  readonly signIns: SignInStore;
  readonly tokens: TokenStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What a client presents for its tokens. */
export interface Redemption {
  readonly code: string;
  readonly client: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

export type IssuedTokens = Awaited<ReturnType<typeof issue>>;

/** All three in milliseconds. */
const codeLifetime = 60_000;
const accessLifetime = 3_600_000;
const refreshLifetime = 30 * 86_400_000;
/**
 * Milliseconds in which a replaced refresh token can still be used. The processes of one client share a token, and may
 * be minutes apart.
 */
const refreshGraceTime = 30 * 60_000;

/** Issues codes to clients that the owner allowed, and tokens for codes. Only the hashes of secrets are kept. */
export function createTokenIssuer(options: TokenIssuerOptions) {
  const { signIns, tokens, now } = options;
  return {
    /** A code for one use within a minute. */
    async createCode(me: string, consent: Omit<NewCode, 'hash' | 'expires' | 'grant'>): Promise<string> {
      const created = now();
      const expires = created + codeLifetime;
      const { text, hash } = createSecret('rdocs_code');
      const { client, scopes } = consent;
      const grant = { id: createGrantId(), scopes, me, client, created, expires, lastUsed: null };
      const code = { ...consent, hash, expires, grant: scopes.length === 0 ? undefined : grant };
      await signIns.addCode(code, created);
      return text;
    },
    /** Uses up a code that says who the owner is, and nothing else or before any token. Throws OAuthError. */
    async redeem(redemption: Redemption): Promise<readonly Scope[]> {
      const { grant, scopes } = await useUp(redemption, options);
      // No token will be issued.
      if (grant !== null) await tokens.revoke(grant);
      return scopes;
    },
    /** Throws OAuthError. A code that is used again ends the tokens that it gave. */
    async exchange(redemption: Redemption) {
      const { grant, scopes } = await useUp(redemption, options);
      if (grant !== null) return issue(grant, scopes, options);
      throw new OAuthError(
        'invalid_scope',
        'This code has no scope. Redeem it at the authorization endpoint.',
      );
    },
    /** Throws OAuthError. `scopes` may only leave some out. */
    async refresh(token: string, client: string, scopes: readonly string[]) {
      const hash = hashSecret(token);
      const { id, scopes: granted } = await findGrant(hash, client, options);
      if (!scopes.every((scope) => granted.some((one) => one === scope)))
        throw new OAuthError('invalid_scope', 'A refresh cannot add scopes. Sign in again to ask for more.');
      await signIns.rotate(hash, now());
      const left = scopes.length === 0 ? granted : granted.filter((one) => scopes.includes(one));
      return issue(id, left, options, hash);
    },
    /** Ends everything that was granted together with a token, whatever kind of token it is. */
    async revoke(token: string): Promise<void> {
      const hash = hashSecret(token);
      const grant = (await tokens.find(hash)) ?? (await signIns.findRefreshToken(hash))?.grant;
      if (grant !== undefined) await tokens.revoke(grant.id);
    },
  };
}

async function useUp(
  { code, client, redirectUri, verifier }: Redemption,
  { signIns, tokens, now }: TokenIssuerOptions,
): Promise<Code> {
  const hash = hashSecret(code);
  const found = await signIns.findCode(hash);
  const isTheirs = found !== undefined && found.client === client && found.redirectUri === redirectUri;
  if (!isTheirs || !isVerifier(verifier, found.challenge) || (!found.isUsed && found.expires <= now()))
    throw invalidGrant('The code is unknown, has expired or was issued for another request.');
  if (found.isUsed || !(await signIns.useCode(hash, now()))) {
    if (found.grant !== null) await tokens.revoke(found.grant);
    throw invalidGrant('The code was used before. Its tokens have ended; sign in again.');
  }
  return found;
}

/** The grant of a refresh token that its client may still use. */
async function findGrant(
  hash: string,
  client: string,
  { signIns, tokens, now }: TokenIssuerOptions,
): Promise<Grant> {
  const found = await signIns.findRefreshToken(hash);
  if (found === undefined || found.grant.expires <= now() || found.grant.client !== client)
    throw invalidGrant('The refresh token is unknown, has expired or belongs to another client.');
  // The clocks of instances differ a little.
  const isOver = (rotated: number | null) =>
    rotated !== null && Math.abs(now() - rotated) >= refreshGraceTime;
  if (!isOver(found.rotated)) return found.grant;
  // A client that is merely late has not gone on with what it got: two have this token, and one is a thief.
  if (isOver(found.successorRotated)) await tokens.revoke(found.grant.id);
  throw invalidGrant('The refresh token was replaced long ago. Sign in again.');
}

async function issue(
  grant: string,
  scopes: readonly Scope[],
  { signIns, now }: TokenIssuerOptions,
  parent?: string,
) {
  const issued = now();
  const [access, refresh] = [createSecret('rdocs'), createSecret('rdocs_refresh')];
  const isAlive = await signIns.addTokens({
    grant,
    scopes,
    now: issued,
    access: { hash: access.hash, expires: issued + accessLifetime },
    refresh: { hash: refresh.hash, expires: issued + refreshLifetime, parent },
  });
  if (!isAlive) throw invalidGrant('The grant has been revoked. Sign in again.');
  // The lifetime of the access token in seconds.
  return { access: access.text, refresh: refresh.text, scopes, lifetime: accessLifetime / 1_000 };
}

function invalidGrant(message: string): OAuthError {
  return new OAuthError('invalid_grant', message);
}

/** RFC 7636, 4.1 and 4.6. The challenge is not a secret. */
function isVerifier(verifier: string, challenge: string): boolean {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return false;
  return createHash('sha256').update(verifier).digest('base64url') === challenge;
}
