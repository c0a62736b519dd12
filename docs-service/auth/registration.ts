import { randomBytes } from 'node:crypto';
import { tryClientName } from './clientName.ts';
import type { OAuthClient } from './oauthClient.ts';
import { OAuthError } from './oauthError.ts';
import { redirectUriProblem } from './redirectUri.ts';

/** For one client. */
const mostRedirects = 20;

/**
 * Reads how a client describes itself when it registers (RFC 7591, section 2). Only public clients are accepted, so
 * what it says about secrets does not matter; the answer says so. Throws OAuthError.
 */
export function parseRegistration(body: unknown): OAuthClient {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new OAuthError('invalid_client_metadata', 'The body must be a JSON object.');
  const { redirect_uris, client_name, client_uri } = body as Readonly<Record<string, unknown>>;
  return {
    id: `rdocs_client_${randomBytes(16).toString('base64url')}`,
    name: tryClientName(client_name),
    uri: tryPage(client_uri),
    redirectUris: parseRedirects(redirect_uris),
    source: 'registration',
  };
}

function parseRedirects(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > mostRedirects)
    throw new OAuthError('invalid_redirect_uri', `redirect_uris must list 1 to ${mostRedirects} addresses.`);
  return value.map((uri: unknown) => {
    const problem =
      typeof uri === 'string' ? redirectUriProblem(uri) : 'A redirect address must be a string.';
    if (typeof uri !== 'string' || problem !== undefined)
      throw new OAuthError('invalid_redirect_uri', (problem ?? '').replaceAll('"', "'"));
    return uri;
  });
}

function tryPage(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 2_048 || !URL.canParse(value)) return null;
  const url = new URL(value);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url.href : null;
}
