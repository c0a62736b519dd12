import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { isRecord } from '../../../protocol/base/json.ts';
import { OAuthError } from '../../auth/authErrors.ts';
import { type OAuthClient, redirectUriProblem, tryClientName } from '../../auth/clientStore.ts';
import { callerOf, RateLimiter } from '../../base/rateLimiter.ts';
import { signInPaths } from './metadataRoutes.ts';
import { answerOAuthErrors } from './signInErrors.ts';
import type { SignInServices } from './signInServices.ts';

/** A minute, for each address. There is no limit for all: with one, a few strangers could lock out everybody else. */
const limit = 10;

/**
 * Clients register themselves (RFC 7591). They get a name without rights: the owner still has to allow them. A
 * registration costs one row, for which the oldest makes room.
 */
export async function registerRoute(app: FastifyInstance, { clients, now }: SignInServices): Promise<void> {
  const registrations = new RateLimiter(limit, now);
  answerOAuthErrors(app);
  app.post(signInPaths.registration, async (request, reply) => {
    const { isAllowed, resetAfter } = registrations.take(callerOf(request.ip));
    const after = { 'retry-after': String(resetAfter) };
    if (!isAllowed) throw new OAuthError('temporarily_unavailable', tooMany, 429, after);
    const client = parseRegistration(request.body);
    await clients.register(client, now());
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({
        client_id: client.id,
        client_id_issued_at: Math.floor(now() / 1_000),
        ...(client.name === null ? {} : { client_name: client.name }),
        ...(client.uri === null ? {} : { client_uri: client.uri }),
        redirect_uris: client.redirectUris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      });
  });
}

const tooMany = 'Too many registrations. Try again in a minute.';

/** For one client. */
const maxRedirects = 20;

/**
 * Reads how a client describes itself when it registers (RFC 7591, section 2). Only public clients are accepted, so
 * what it says about secrets does not matter; the answer says so. Throws OAuthError.
 */
function parseRegistration(body: unknown): OAuthClient {
  if (!isRecord(body)) throw new OAuthError('invalid_client_metadata', 'The body must be a JSON object.');
  const { redirect_uris, client_name, client_uri } = body;
  return {
    id: `rdocs_client_${randomBytes(16).toString('base64url')}`,
    name: tryClientName(client_name),
    uri: tryPage(client_uri),
    redirectUris: parseRedirects(redirect_uris),
    source: 'registration',
  };
}

function parseRedirects(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxRedirects)
    throw new OAuthError('invalid_redirect_uri', `redirect_uris must list 1 to ${maxRedirects} addresses.`);
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
