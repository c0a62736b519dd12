import type { FastifyInstance } from 'fastify';
import { scopes } from '../../auth/accessTokens.ts';
import { resourceMetadataPath } from '../authorization.ts';
import { originOf } from '../requestChecks.ts';
import type { Services } from '../services.ts';
import type { SignInServices } from './signInServices.ts';

/** Where the owner answers clients, and where clients get and revoke their tokens. */
export const signInPaths = {
  authorization: '/authorize',
  token: '/token',
  introspection: '/introspect',
  revocation: '/revoke',
  registration: '/register',
  userinfo: '/userinfo',
} as const;

/** The metadata of the protected resource (RFC 9728), for the whole service and for `/mcp`. */
export async function resourceMetadata(
  app: FastifyInstance,
  { baseUrl, issuer, site }: Pick<Services, 'baseUrl' | 'issuer' | 'site'>,
): Promise<void> {
  const { path } = baseUrl;
  for (const resource of ['', '/mcp'])
    for (const place of placesOf(resourceMetadataPath, path, resource))
      app.get(place, async (request, reply) => {
        const address = originOf(request, baseUrl) + path;
        return reply.header('cache-control', 'public, max-age=300').send({
          resource: address + resource,
          authorization_servers: [issuer],
          // Clients ask for every scope in this list, and most of them only need to read.
          scopes_supported: ['read'],
          bearer_methods_supported: ['header'],
          resource_name: site.title,
          resource_documentation: `${address}/docs`,
        });
      });
}

/** The metadata of the authorization server (RFC 8414, and IndieAuth 4.1.1). */
export async function serverMetadata(
  app: FastifyInstance,
  { baseUrl, takesRegistrations }: Pick<SignInServices, 'baseUrl' | 'takesRegistrations'>,
): Promise<void> {
  const { href, path } = baseUrl;
  const { authorization, token, introspection, revocation, registration, userinfo } = signInPaths;
  const metadata = {
    issuer: href,
    authorization_endpoint: href + authorization,
    token_endpoint: href + token,
    client_id_metadata_document_supported: true,
    ...(takesRegistrations ? { registration_endpoint: href + registration } : {}),
    introspection_endpoint: href + introspection,
    introspection_endpoint_auth_methods_supported: ['Bearer'],
    revocation_endpoint: href + revocation,
    revocation_endpoint_auth_methods_supported: ['none'],
    userinfo_endpoint: href + userinfo,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${href}/docs`,
  };
  for (const place of placesOf(metadataPath, path))
    app.get(place, async (_request, reply) =>
      reply.header('cache-control', 'public, max-age=300').send(metadata),
    );
}

export const metadataPath = '/.well-known/oauth-authorization-server';

/**
 * Where clients look for a well-known document if the service has a path: before the path (RFC 8414, 3.1, and RFC 9728,
 * 3.1), and behind it, as IndieAuth and older clients do.
 */
function placesOf(wellKnown: string, path: string, resource = ''): ReadonlySet<string> {
  return new Set([wellKnown + path + resource, path + wellKnown + resource]);
}
