import type { OAuthTokens } from '@modelcontextprotocol/client';
import { RunnerError } from '../../base/errors.ts';

/** An access token is renewed so long before it expires, in ms. */
const margin = 30_000;
const maxLength = 32_768;
/** What a token lasts that does not say so, in ms: until the server refuses it. */
const maxLifetime = 365 * 24 * 3_600_000;

export interface AccessToken {
  readonly text: string;
  /** In ms since 1970. */
  readonly expiresAt: number;
}

/**
 * An access token that can stand in a header, and how long it is good.
 * @throws {RunnerError} where the answer is none that can be used; it never quotes it.
 */
export function toAccessToken(tokens: OAuthTokens, now: number): AccessToken {
  const { access_token: text, token_type: type, expires_in: seconds } = tokens;
  if (type.toLowerCase() !== 'bearer' || !isTokenText(text) || !isTokenText(tokens.refresh_token ?? 'none'))
    throw new RunnerError('bad-response', 'The login returned a token of a type that Runner cannot use.');
  // Neither a negative one counts nor one that is no number.
  const lifetime =
    seconds !== undefined && seconds > 0 ? Math.min(seconds * 1_000, maxLifetime) : maxLifetime;
  return { text, expiresAt: now + lifetime };
}

export function isFresh({ expiresAt }: AccessToken, now: number): boolean {
  return now < expiresAt - margin;
}

function isTokenText(text: string): boolean {
  return text.length > 0 && text.length <= maxLength && /^[\x21-\x7e]+$/.test(text);
}
