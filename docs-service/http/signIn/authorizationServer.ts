import type { FastifyInstance } from 'fastify';
import { authorizeRoutes } from './authorizeRoutes.ts';
import type { OwnerSession } from './ownerSessions.ts';
import { registerRoute } from './registerRoute.ts';
import { signInRoutes } from './signInRoutes.ts';
import { type AuthorizationServerOptions, openSignIn } from './signInServices.ts';
import { tokenRoutes } from './tokenRoutes.ts';

/**
 * Makes the service the authorization server of its owner: for IndieAuth (living standard of 11 July 2024) and for MCP
 * (2025-11-25 and 2026-07-28), which use the same documents and the same flow.
 */
export async function addAuthorizationServer(
  app: FastifyInstance,
  options: AuthorizationServerOptions,
): Promise<OwnerSession> {
  const services = await openSignIn(app, options);
  await app.register(signInRoutes, services);
  await app.register(authorizeRoutes, services);
  await app.register(tokenRoutes, services);
  if (services.takesRegistrations) await app.register(registerRoute, services);
  return services.sessions;
}
