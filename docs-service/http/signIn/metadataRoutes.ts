import type { FastifyPluginAsync } from 'fastify';
import { scopes } from '../../auth/accessToken.ts';
import type { BaseUrl } from '../../base/baseUrl.ts';
import { originOf } from '../hosts.ts';

/** Where the owner answers clients, and where clients get and revoke their tokens. */
export const signInPaths = {
  authorization: '/authorize',
  token: '/token',
  introspection: '/introspect',
  revocation: '/revoke',
  registration: '/register',
  userinfo: '/userinfo',
} as const;

export interface ResourceMetadataOptions {
  readonly baseUrl: BaseUrl;
  /** The authorization server: this service itself, or another one. */
  readonly issuer: string;
}

/** The metadata of the protected resource (RFC 9728), for the whole service and for `/mcp`. */
export function createResourceMetadata({ baseUrl, issuer }: ResourceMetadataOptions): FastifyPluginAsync {
  return async (app) => {
    for (const path of ['', '/mcp'])
      app.get(
        `/.well-known/oauth-protected-resource${path}`,
        { schema: { hide: true } },
        async (request, reply) => {
          const origin = originOf(request, baseUrl);
          return reply.header('cache-control', 'public, max-age=300').send({
            resource: `${origin}${path}`,
            authorization_servers: [issuer],
            // Clients ask for every scope in this list, and most of them only need to read.
            scopes_supported: ['read'],
            bearer_methods_supported: ['header'],
            resource_name: 'runner-docs',
            resource_documentation: `${origin}/docs`,
          });
        },
      );
  };
}

export interface ServerMetadataOptions {
  readonly origin: string;
  readonly takesRegistrations: boolean;
}

/** The metadata of the authorization server (RFC 8414, and IndieAuth 4.1.1). */
export function createServerMetadata({
  origin,
  takesRegistrations,
}: ServerMetadataOptions): FastifyPluginAsync {
  const { authorization, token, introspection, revocation, registration, userinfo } = signInPaths;
  const metadata = {
    issuer: origin,
    authorization_endpoint: origin + authorization,
    token_endpoint: origin + token,
    client_id_metadata_document_supported: true,
    ...(takesRegistrations ? { registration_endpoint: origin + registration } : {}),
    introspection_endpoint: origin + introspection,
    introspection_endpoint_auth_methods_supported: ['Bearer'],
    revocation_endpoint: origin + revocation,
    revocation_endpoint_auth_methods_supported: ['none'],
    userinfo_endpoint: origin + userinfo,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${origin}/docs`,
  };
  return async (app) => {
    app.get(metadataPath, { schema: { hide: true } }, async (_request, reply) =>
      reply.header('cache-control', 'public, max-age=300').send(metadata),
    );
  };
}

export const metadataPath = '/.well-known/oauth-authorization-server';
