import { randomUUID } from 'node:crypto';
import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientInformationMixed,
  RegistrationRejectedError,
  registerClient,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { withTimeLimit } from '../../../protocol/base/abort.ts';
import { isLoopback } from '../../../protocol/base/loopback.ts';
import { RunnerError } from '../../base/errors.ts';
import type { HttpServerEntry } from '../serverEntry.ts';
import { toAccessToken } from './accessTokens.ts';
import type { KeptLogin } from './loginStore.ts';
import type { LoopbackRedirect } from './loopbackRedirect.ts';
import { createOAuthFetch, refusedLogin, requireSafeAddress } from './oauthFetch.ts';

/** Begins an authorization at the address for the browser. @throws {RunnerError}, or what the SDK throws. */
export async function beginAuthorization(
  { url: server, clientId }: HttpServerEntry,
  authority: Authority,
  { redirect, state, fetch }: { redirect: LoopbackRedirect; state: string; fetch: FetchLike },
) {
  const { metadata, resource, scope } = authority;
  const { issuer } = metadata;
  const { address: redirectUrl } = redirect;
  const client =
    clientId === undefined ? await identify(authority, redirectUrl, fetch) : { client_id: clientId };
  const shared = { metadata, clientInformation: client, resource };
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
    ...shared,
    redirectUrl,
    state,
    ...(scope === undefined ? {} : { scope }),
  });
  return {
    url: authorizationUrl.href,
    /** Redeems what the browser came back with, whose state was compared; `now` is in ms since 1970. */
    async redeem(answer: URLSearchParams, now: number, signal: AbortSignal): Promise<KeptLogin> {
      const issued = await exchangeAuthorization(issuer, {
        ...shared,
        ...codeOf(answer, authority),
        codeVerifier,
        redirectUri: redirectUrl,
        fetchFn: createOAuthFetch({ server, signal }),
      });
      const { text, expiresAt } = toAccessToken(issued, now);
      const { refresh_token: refreshToken } = issued;
      return {
        version: 1,
        id: randomUUID(),
        server,
        metadata,
        client,
        resource,
        isClientNamed: clientId !== undefined,
        ...(issued.scope === undefined ? {} : { scope: issued.scope }),
        ...(refreshToken === undefined ? { accessToken: text, expiresAt } : { refreshToken }),
      };
    },
  };
}

/**
 * The code, and who says so; `exchangeAuthorization` compares the issuer (RFC 9207), for an error it is compared here.
 */
function codeOf(answer: URLSearchParams, { metadata }: Authority) {
  const iss = answer.get('iss') ?? undefined;
  const authorizationCode = answer.get('code');
  if (authorizationCode) return { authorizationCode, ...(iss === undefined ? {} : { iss }) };
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata.issuer,
    issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
  });
  const description = answer.get('error_description') ?? undefined;
  throw refusedLogin(new URL(metadata.issuer).origin, answer.get('error') ?? 'it gave no code', description);
}

/**
 * Our client id at an authorization server, if the entry names none: one by registration if that is offered, or else
 * the address of the redirect, as IndieAuth specifies for programs on the same machine.
 * @throws {RunnerError}
 */
async function identify(
  { metadata, scope }: Authority,
  redirectUrl: string,
  fetchFn: FetchLike,
): Promise<OAuthClientInformationMixed> {
  if (metadata.registration_endpoint === undefined) return { client_id: redirectUrl };
  try {
    return await registerClient(metadata.issuer, {
      metadata,
      clientMetadata: {
        client_name: 'Runner',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        application_type: 'native',
      },
      ...(scope === undefined ? {} : { scope }),
      fetchFn,
    });
  } catch (cause) {
    if (!(cause instanceof RegistrationRejectedError)) throw cause;
    throw new RunnerError(
      'unauthorized',
      `${new URL(metadata.issuer).origin} does not register programs by themselves (${cause.status}). Register Runner there, and enter the id that you get as "clientId".`,
      { cause },
    );
  }
}

/** The authorization server of a tool server, and what its tokens are for. */
interface Authority {
  readonly metadata: AuthorizationServerMetadata;
  /** What the token is for (RFC 8707). */
  readonly resource: string;
  readonly scope?: string;
}

/** In ms. */
const probeLimit = 15_000;
const maxScopes = 32;
const maxScopeLength = 1_000;

/**
 * Finds it as MCP specifies: from the server's challenge, the metadata of the resource (RFC 9728), and the metadata of
 * the authorization server (RFC 8414, or OpenID's). The SDK finds and reads the documents, and compares the issuer.
 * This function checks what the SDK does not: the resource's metadata is at the server's own origin, PKCE with S256 is
 * supported, and secrets may be sent to every address.
 * @throws {RunnerError}
 */
export async function findAuthority(
  entry: HttpServerEntry,
  fetch: FetchLike,
  signal: AbortSignal,
): Promise<Authority> {
  const { url } = entry;
  const challenge = await challengeOf(entry, signal);
  const document = await resourceMetadata(url, challenge.resourceMetadataUrl, fetch);
  if (document && !checkResourceAllowed({ requestedResource: url, configuredResource: document.resource }))
    throw unusable(`is for ${JSON.stringify(document.resource).slice(0, 200)} and not for ${url}`);
  // Before there was metadata of resources, the server's own origin was the authorization server.
  const issuer = document?.authorization_servers?.[0] ?? new URL('/', url).href;
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  if (!metadata) throw noLogin(url, challenge.isOpen);
  if (!metadata.code_challenge_methods_supported?.includes('S256'))
    throw unusable('does not offer PKCE with S256, without which a login is not safe');
  requireSafeAddress(metadata.authorization_endpoint, isLoopback(url));
  const scope = boundedScope(challenge.scope ?? document?.scopes_supported?.join(' '), metadata);
  const resource = document?.resource ?? new URL(url).href.replace(/#.*$/, '');
  return { metadata, resource, ...(scope === undefined ? {} : { scope }) };
}

/**
 * How the server answers a request without a token; `isOpen` if it accepts that. The answer may be a stream, so its
 * body is not read.
 */
async function challengeOf({ url, headers }: HttpServerEntry, signal: AbortSignal) {
  const { origin } = requireSafeAddress(url, true);
  const reason = new RunnerError('timeout', `${origin} did not answer within ${probeLimit / 1_000} s.`);
  return withTimeLimit({ limit: probeLimit, reason, signal }, async (inTime) => {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: greeting }),
      signal: inTime,
    }).catch((cause) => {
      inTime.throwIfAborted();
      throw new RunnerError('bad-response', `${origin} cannot be reached.`, { cause });
    });
    await response.body?.cancel();
    return { ...extractWWWAuthenticateParams(response), isOpen: response.ok };
  });
}

const greeting = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'runner', version: '1' },
};

/** Undefined if the server publishes none. */
async function resourceMetadata(url: string, named: URL | undefined, fetch: FetchLike) {
  if (named && named.origin !== new URL(url).origin)
    throw unusable('is described at an origin other than its server, which Runner does not contact');
  try {
    return await discoverOAuthProtectedResourceMetadata(
      url,
      named ? { resourceMetadataUrl: named } : {},
      fetch,
    );
  } catch (error) {
    if (named || error instanceof RunnerError) throw error;
    return undefined;
  }
}

/** Valid scopes (RFC 6749, 3.3), within bounds. If a long-lived login has a scope of its own, it is asked for too. */
function boundedScope(
  text = '',
  { scopes_supported: supported = [] }: AuthorizationServerMetadata,
): string | undefined {
  const scopes = text.split(' ').filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (text.length > maxScopeLength || scopes.length > maxScopes)
    throw unusable('asks for more scopes than a person can review');
  if (scopes.length === 0) return undefined;
  if (supported.includes('offline_access')) scopes.push('offline_access');
  return [...new Set(scopes)].join(' ');
}

function noLogin(url: string, isOpen: boolean): RunnerError {
  const hint = isOpen
    ? 'It does not ask for one.'
    : 'If you have a token for it, enter it under "auth" in ~/.config/runner/config.json.';
  return new RunnerError('not-supported', `${new URL(url).origin} offers no login. ${hint}`);
}

function unusable(why: string): RunnerError {
  return new RunnerError('bad-response', `The login that is offered ${why}.`);
}
