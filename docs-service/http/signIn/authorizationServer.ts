import type { FastifyInstance } from 'fastify';
import type { AccessStores } from '../../auth/accessStores.ts';
import type { ClientDocuments } from '../../auth/clientDocuments.ts';
import { PasswordCheck } from '../../auth/passwords.ts';
import { TokenIssuer } from '../../auth/tokenIssuer.ts';
import type { Services } from '../services.ts';
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

interface SharedOptions
  extends Omit<SignInOptions, 'access'>,
    Pick<Services, 'baseUrl' | 'site' | 'authorization'> {
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

interface AuthorizationServerOptions extends SharedOptions, Pick<SignInOptions, 'access'> {
  /** Wrong passwords a minute, for an address. */
  readonly passwordLimit: number;
}

/** What the routes of the sign-in share. */
export interface SignInServices extends SharedOptions, Pick<AccessStores, 'clients' | 'owners'> {
  readonly sessions: OwnerSessions;
  readonly issuer: TokenIssuer;
  readonly passwords: PasswordCheck;
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
    sessions: await openOwnerSessions(app, { baseUrl, owners, now }),
    issuer: new TokenIssuer({ signIns, tokens, now }),
    passwords: new PasswordCheck({ owners, now, limit: passwordLimit }),
  };
  await app.register(createSignInRoutes(services));
  await app.register(createAuthorizeRoutes(services));
  await app.register(createTokenRoutes(services));
  if (takesRegistrations) await app.register(createRegisterRoute(services));
  return services.sessions;
}
