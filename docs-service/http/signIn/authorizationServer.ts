import type { FastifyInstance } from 'fastify';
import type { AccessStores } from '../../auth/accessStores.ts';
import { PasswordCheck } from '../../auth/passwords.ts';
import { createTokenIssuer } from '../../auth/tokenIssuer.ts';
import { authorizeRoutes } from './authorizeRoutes.ts';
import { type OwnerSessions, openOwnerSessions } from './ownerSessions.ts';
import { registerRoute } from './registerRoute.ts';
import { signInRoutes } from './signInRoutes.ts';
import type { SignInServices } from './signInServices.ts';
import { tokenRoutes } from './tokenRoutes.ts';

/** What the service needs to be the authorization server itself. */
export interface SignInOptions extends Pick<SignInServices, 'documents' | 'takesRegistrations' | 'dataHint'> {
  readonly access: AccessStores;
}

interface AuthorizationServerOptions
  extends SignInOptions,
    Pick<SignInServices, 'baseUrl' | 'site' | 'authorization' | 'now'> {
  /** Wrong passwords a minute, for an address. */
  readonly passwordLimit: number;
}

/**
 * Makes the service the authorization server of its owner: for IndieAuth (living standard of 11 July 2024) and for MCP
 * (2025-11-25 and 2026-07-28), which use the same documents and the same flow.
 */
export async function addAuthorizationServer(
  app: FastifyInstance,
  options: AuthorizationServerOptions,
): Promise<OwnerSessions> {
  const { access, passwordLimit, ...shared } = options;
  const { clients, owners, signIns, tokens } = access;
  const { baseUrl, takesRegistrations, now } = options;
  const services: SignInServices = {
    ...{ ...shared, clients, owners },
    sessions: await openOwnerSessions(app, baseUrl, owners, now),
    issuer: createTokenIssuer({ signIns, tokens, now }),
    passwords: new PasswordCheck({ owners, now, limit: passwordLimit }),
  };
  await app.register(signInRoutes, services);
  await app.register(authorizeRoutes, services);
  await app.register(tokenRoutes, services);
  if (takesRegistrations) await app.register(registerRoute, services);
  return services.sessions;
}
