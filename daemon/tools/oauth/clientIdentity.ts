import {
  type AuthorizationServerMetadata,
  type FetchLike,
  type OAuthClientInformationMixed,
  RegistrationRejectedError,
  registerClient,
} from '@modelcontextprotocol/client';
import { RunnerError } from '../../base/errors.ts';

export interface ClientIdentityOptions {
  readonly metadata: AuthorizationServerMetadata;
  /** Of the entry. */
  readonly clientId: string | undefined;
  readonly redirectUrl: string;
  readonly scope: string | undefined;
  readonly fetch: FetchLike;
}

/**
 * Who we are to an authorization server: what the entry says; else what a registration makes us, where that is offered;
 * else the address of the redirect itself, as IndieAuth has it for programs on the same machine.
 * @throws {RunnerError}
 */
export async function identifyClient(options: ClientIdentityOptions): Promise<OAuthClientInformationMixed> {
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
