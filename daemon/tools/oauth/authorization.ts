import { randomUUID } from 'node:crypto';
import {
  type AuthorizationServerMetadata,
  exchangeAuthorization,
  type FetchLike,
  type OAuthClientInformationMixed,
  RegistrationRejectedError,
  registerClient,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { RunnerError } from '../../base/errors.ts';
import type { HttpServerEntry } from '../serverEntry.ts';
import { toAccessToken } from './accessTokens.ts';
import type { Authority } from './authority.ts';
import { refusedLogin } from './loginFailure.ts';
import type { KeptLogin } from './loginStore.ts';
import type { LoopbackRedirect } from './loopbackRedirect.ts';
import { createOAuthFetch } from './oauthFetch.ts';

/** An authorization that has begun: what is needed when the browser comes back. */
export interface Begun {
  readonly entry: HttpServerEntry;
  readonly authority: Authority;
  readonly client: OAuthClientInformationMixed;
  readonly codeVerifier: string;
  readonly redirectUrl: string;
}

interface AuthorizationOptions {
  readonly authority: Authority;
  readonly redirect: LoopbackRedirect;
  readonly state: string;
  readonly fetch: ReturnType<typeof createOAuthFetch>;
}

/**
 * The address for the browser, and what is needed when it comes back. @throws {RunnerError}, or what the SDK throws.
 */
export async function beginAuthorization(
  entry: HttpServerEntry,
  { authority, redirect, state, fetch }: AuthorizationOptions,
): Promise<{ readonly url: string; readonly begun: Begun }> {
  const { metadata, resource, scope } = authority;
  const { address: redirectUrl } = redirect;
  const client = await identifyClient({ metadata, clientId: entry.clientId, redirectUrl, scope, fetch });
  const { authorizationUrl, codeVerifier } = await startAuthorization(metadata.issuer, {
    metadata,
    clientInformation: client,
    redirectUrl,
    state,
    resource,
    ...(scope === undefined ? {} : { scope }),
  });
  return { url: authorizationUrl.href, begun: { entry, authority, client, codeVerifier, redirectUrl } };
}

interface RedeemOptions {
  /** What the browser came back with; its state was compared. */
  readonly answer: URLSearchParams;
  /** In ms since 1970. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Redeems the code for a login that can be kept. */
export async function redeemCode(begun: Begun, { answer, now, signal }: RedeemOptions): Promise<KeptLogin> {
  const { entry, authority, client, codeVerifier, redirectUrl } = begun;
  const { metadata, resource } = authority;
  const issued = await exchangeAuthorization(metadata.issuer, {
    metadata,
    clientInformation: client,
    codeVerifier,
    resource,
    ...codeOf(answer, authority),
    redirectUri: redirectUrl,
    fetchFn: createOAuthFetch({ server: entry.url, signal }),
  });
  const { text, expiresAt } = toAccessToken(issued, now);
  const { refresh_token: refreshToken, scope } = issued;
  return {
    version: 1,
    id: randomUUID(),
    server: entry.url,
    metadata,
    client,
    resource,
    isClientNamed: entry.clientId !== undefined,
    ...(scope === undefined ? {} : { scope }),
    ...(refreshToken === undefined ? { accessToken: text, expiresAt } : { refreshToken }),
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

interface ClientIdentityOptions {
  readonly metadata: AuthorizationServerMetadata;
  /** Of the entry. */
  readonly clientId: string | undefined;
  readonly redirectUrl: string;
  readonly scope: string | undefined;
  readonly fetch: FetchLike;
}

/**
 * Our client id at an authorization server: the one of the entry, or one by registration if that is offered, or else
 * the address of the redirect, as IndieAuth specifies for programs on the same machine.
 * @throws {RunnerError}
 */
async function identifyClient(options: ClientIdentityOptions): Promise<OAuthClientInformationMixed> {
  const { metadata, clientId, redirectUrl } = options;
  if (clientId !== undefined) return { client_id: clientId };
  if (metadata.registration_endpoint === undefined) return { client_id: redirectUrl };
  return register(options);
}

async function register({ metadata, redirectUrl, scope, fetch }: ClientIdentityOptions) {
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
      fetchFn: fetch,
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
