import { randomUUID } from 'node:crypto';
import {
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

interface AuthorizationOptions {
  readonly authority: Authority;
  readonly redirect: LoopbackRedirect;
  readonly state: string;
  readonly fetch: FetchLike;
}

/** Begins an authorization at the address for the browser. @throws {RunnerError}, or what the SDK throws. */
export async function beginAuthorization(
  { url: server, clientId }: HttpServerEntry,
  { authority, redirect, state, fetch }: AuthorizationOptions,
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
