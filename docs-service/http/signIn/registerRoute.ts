import type { FastifyPluginAsync } from 'fastify';
import type { ClientStore } from '../../auth/clientStore.ts';
import { OAuthError } from '../../auth/oauthError.ts';
import { parseRegistration } from '../../auth/registration.ts';
import { callerOf, RateLimiter } from '../../base/rateLimiter.ts';
import { signInPaths } from './metadataRoutes.ts';
import { answerOAuthErrors } from './oauthErrors.ts';

export interface RegisterRouteOptions {
  readonly clients: ClientStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A minute, for each address. There is no limit for all: with one, a few strangers could lock out everybody else. */
const limit = 10;

/**
 * Clients register themselves (RFC 7591). They get a name without rights: the owner still has to allow them. A
 * registration costs one row, for which the oldest makes room.
 */
export function createRegisterRoute({ clients, now }: RegisterRouteOptions): FastifyPluginAsync {
  const registrations = new RateLimiter(limit, now);
  return async (app) => {
    answerOAuthErrors(app);
    app.post(
      signInPaths.registration,
      { schema: { hide: true }, bodyLimit: 65_536 },
      async (request, reply) => {
        const { isAllowed, resetAfter } = registrations.take(callerOf(request.ip));
        if (!isAllowed)
          throw new OAuthError('temporarily_unavailable', 'Too many registrations. Try again in a minute.', {
            status: 429,
            headers: { 'retry-after': String(resetAfter) },
          });
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
      },
    );
  };
}
