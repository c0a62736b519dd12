import type { FastifyInstance } from 'fastify';
import type { AccessStores } from '../../auth/accessStores.ts';
import type { ClientDocuments } from '../../auth/clientDocuments.ts';
import { PasswordCheck } from '../../auth/passwords.ts';
import { createTokenIssuer } from '../../auth/tokenIssuer.ts';
import type { AuthorizationOptions } from '../authorization.ts';
import type { Services } from '../services.ts';
import { openOwnerSessions } from './ownerSessions.ts';

/** What the service needs to be the authorization server itself. */
export interface SignInOptions {
  readonly access: AccessStores;
  readonly documents: ClientDocuments;
  /** Whether clients may register themselves. */
  readonly takesRegistrations: boolean;
  /** The flags that commands need for this very service, such as `--data /srv/docs`; for pages that show a command. */
  readonly dataHint: string;
}

export type AuthorizationServerOptions = SignInOptions &
  Pick<Services, 'baseUrl' | 'site' | 'authorization'> &
  Pick<AuthorizationOptions, 'now' | 'limits'>;

/** What the routes of the sign-in share. */
export type SignInServices = Awaited<ReturnType<typeof openSignIn>>;

export async function openSignIn(app: FastifyInstance, options: AuthorizationServerOptions) {
  const { access, baseUrl, now, limits } = options;
  const { clients, owners, signIns, tokens } = access;
  return {
    ...{ ...options, clients, owners },
    sessions: await openOwnerSessions(app, baseUrl, owners, now),
    issuer: createTokenIssuer({ signIns, tokens, now }),
    passwords: new PasswordCheck({ owners, now, limit: limits.authFailures }),
  };
}
