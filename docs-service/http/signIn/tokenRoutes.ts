import type { FastifyInstance } from 'fastify';
import type { Scope } from '../../auth/accessTokens.ts';
import { OAuthError } from '../../auth/authErrors.ts';
import { isClientId, isDocumentAddress } from '../../auth/identifiers.ts';
import { checkResources, type Parameters } from '../../auth/oauthRequest.ts';
import type { Owner, OwnerStore } from '../../auth/ownerStore.ts';
import type { IssuedTokens, Redemption } from '../../auth/tokenIssuer.ts';
import type { BaseUrl } from '../../base/baseUrl.ts';
import { clientFormOf, formOf, readForms } from './formBody.ts';
import { signInPaths } from './metadataRoutes.ts';
import { answerOAuthErrors } from './signInErrors.ts';
import type { SignInServices } from './signInServices.ts';

/** Where clients get, refresh, introspect and revoke tokens. Every answer is only for its caller. */
export async function tokenRoutes(app: FastifyInstance, services: SignInServices): Promise<void> {
  const { baseUrl, issuer, owners, authorization } = services;
  readForms(app);
  answerOAuthErrors(app);
  app.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));

  app.post(signInPaths.token, async (request) => {
    const form = clientFormOf(request);
    authorization.countSignIn('token', request.ip);
    const { access, refresh, scopes, lifetime } = await issueTokens(form, services);
    return {
      ...{ access_token: access, token_type: 'Bearer', expires_in: lifetime },
      ...{ refresh_token: refresh, scope: scopes.join(' ') },
      ...(await identityOf(owners, baseUrl, scopes)),
    };
  });
  // A client that only wants to know who the owner is redeems its code here (IndieAuth, 5.3.1).
  app.post(signInPaths.authorization, async (request) => {
    const form = clientFormOf(request);
    authorization.countSignIn('token', request.ip);
    const grantType = form.tryGet('grant_type') ?? 'authorization_code';
    if (grantType !== 'authorization_code') throw unknownGrantType();
    return identityOf(owners, baseUrl, await issuer.redeem(readRedemption(form)));
  });
  app.post(signInPaths.revocation, async ({ body, ip }) => {
    authorization.countSignIn('revoke', ip);
    await issuer.revoke(formOf(body).get('token'));
    return {};
  });

  const requireBearer = { onRequest: authorization.requireBearer };
  app.post(signInPaths.introspection, requireBearer, async (request) => {
    const token = formOf(request.body).get('token');
    if (request.headers.authorization?.replace(/^bearer +/i, '').trim() === token)
      throw new OAuthError('invalid_request', 'A token cannot ask about itself.');
    const found = await authorization.findToken(token, request);
    if (found === undefined) return { active: false };
    return {
      active: true,
      me: found.me ?? meOf(await owners.read(), baseUrl),
      client_id: found.client ?? `${baseUrl.href}/`,
      scope: found.scopes.join(' '),
      exp: Math.floor(found.expires / 1_000),
      iat: Math.floor(found.created / 1_000),
      iss: baseUrl.href,
      aud: `${baseUrl.href}/mcp`,
      token_type: 'Bearer',
    };
  });
  app.get(signInPaths.userinfo, requireBearer, async (request) => {
    const scopes = request.grant?.scopes ?? [];
    if (!scopes.includes('profile')) throw authorization.scopeIsMissing('profile', request);
    return profileOf(await owners.read(), baseUrl, scopes);
  });
}

async function issueTokens(form: Parameters, options: SignInServices): Promise<IssuedTokens> {
  checkResources(form.getAll('resource'), options.baseUrl);
  const grantType = form.get('grant_type');
  if (grantType !== 'authorization_code' && grantType !== 'refresh_token') throw unknownGrantType();
  const client = form.get('client_id');
  // With this error, clients register again; with any other, an unknown client would only sign in again.
  const isKnown =
    isDocumentAddress(client) || (isClientId(client) && (await options.clients.find(client)) !== undefined);
  if (!isKnown) throw new OAuthError('invalid_client', 'This client is not registered here any more.', 401);
  if (grantType === 'authorization_code') return options.issuer.exchange(readRedemption(form));
  const scopes = (form.tryGet('scope') ?? '').split(' ').filter(Boolean);
  return options.issuer.refresh(form.get('refresh_token'), client, scopes);
}

function readRedemption(form: Parameters): Redemption {
  return {
    code: form.get('code'),
    client: form.get('client_id'),
    redirectUri: form.get('redirect_uri'),
    verifier: form.get('code_verifier'),
  };
}

function unknownGrantType(): OAuthError {
  return new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.');
}

async function identityOf(owners: OwnerStore, baseUrl: BaseUrl, scopes: readonly Scope[]) {
  const owner = await owners.read();
  const profile = scopes.includes('profile') ? { profile: profileOf(owner, baseUrl, scopes) } : {};
  return { me: meOf(owner, baseUrl), ...profile };
}

function profileOf(owner: Owner, baseUrl: BaseUrl, scopes: readonly Scope[]) {
  const { email, ...profile } = { url: meOf(owner, baseUrl), ...owner.profile };
  return { ...profile, ...(email !== undefined && scopes.includes('email') ? { email } : {}) };
}

export function meOf({ me }: Owner, { href }: BaseUrl): string {
  return me ?? `${href}/`;
}
