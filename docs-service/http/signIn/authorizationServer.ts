import type { FastifyInstance } from 'fastify';
import type { AccessStores } from '../../auth/accessStores.ts';
import type { ClientDocuments } from '../../auth/clientDocuments.ts';
import { PasswordCheck } from '../../auth/passwords.ts';
import { createTokenIssuer } from '../../auth/tokenIssuer.ts';
import type { BaseUrl } from '../../base/baseUrl.ts';
import type { Authorization } from '../authorization.ts';
import type { Site } from '../pages.ts';
import { createAuthorizeRoutes } from './authorizeRoutes.ts';
import { type OwnerSessions, openOwnerSessions } from './ownerSessions.ts';
import { createRegisterRoute } from './registerRoute.ts';
import { createSignInRoutes } from './signInRoutes.ts';
import { createTokenRoutes } from './tokenRoutes.ts';

/** What the service needs to be the authorization server itself. */
export interface SignInOptions {
  readonly access: AccessStores;
  readonly documents: ClientDocuments;
  /** Whether clients may register themselves. */
  readonly takesRegistrations: boolean;
  /** The flags that commands need for this very service, such as `--data /srv/docs`; for pages that show a command. */
  readonly dataHint: string;
}

export interface AuthorizationServerOptions extends SignInOptions {
  readonly baseUrl: BaseUrl;
  readonly site: Site;
  readonly authorization: Authorization;
  /** Wrong passwords a minute, for an address. */
  readonly passwordLimit: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Makes the service the authorization server of its owner: for IndieAuth (living standard of 11 July 2024) and for MCP
 * (2025-11-25 and 2026-07-28), which use the same documents and the same flow.
 */
export async function addAuthorizationServer(
  app: FastifyInstance,
  options: AuthorizationServerOptions,
): Promise<OwnerSessions> {
  const { access, documents, baseUrl, site, authorization, takesRegistrations, passwordLimit, now } = options;
  const { clients, owners, signIns, tokens } = access;
  const sessions = await openOwnerSessions(app, { baseUrl, owners, now });
  const issuer = createTokenIssuer({ signIns, tokens, now });
  const passwords = new PasswordCheck({ owners, now, limit: passwordLimit });
  const shared = {
    baseUrl,
    site,
    owners,
    clients,
    sessions,
    issuer,
    authorization,
    now,
    dataHint: options.dataHint,
  };
  await app.register(createSignInRoutes({ ...shared, passwords }));
  await app.register(createAuthorizeRoutes({ ...shared, documents }));
  await app.register(createTokenRoutes(shared));
  if (takesRegistrations) await app.register(createRegisterRoute({ clients, now }));
  return sessions;
}
