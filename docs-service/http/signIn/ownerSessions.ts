import cookie from '@fastify/cookie';
import csrf from '@fastify/csrf-protection';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createSecret, hashSecret } from '../../auth/accessToken.ts';
import type { OwnerStore } from '../../auth/ownerStore.ts';
import { Parameters } from '../../auth/parameters.ts';
import type { BaseUrl } from '../../baseUrl.ts';
import type { OwnerSession } from '../ownerSession.ts';

export interface OwnerSessionsOptions {
  readonly baseUrl: BaseUrl;
  readonly owners: OwnerStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The browsers in which the owner is signed in. */
export interface OwnerSessions extends OwnerSession {
  isSignedIn(request: FastifyRequest): Promise<boolean>;
  signIn(reply: FastifyReply): Promise<void>;
  signOut(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Milliseconds that a browser stays signed in. */
const lifetime = 7 * 86_400_000;

/**
 * Cookies that no script reads, no other site sends along but by a link, and, with https, no other host can set
 * (RFC 6265bis, `__Host-`). Forms carry a token of their own besides: the library's, in the field `csrf`.
 */
export async function openOwnerSessions(
  app: FastifyInstance,
  { baseUrl, owners, now }: OwnerSessionsOptions,
): Promise<OwnerSessions> {
  const { name, options } = cookiesOf(baseUrl);
  const cookieName = name('session');
  await app.register(cookie);
  await app.register(csrf, {
    cookieKey: name('form'),
    cookieOpts: options,
    logLevel: 'debug',
    getToken: ({ body }) => (body instanceof Parameters ? body.tryGet('csrf') : undefined),
  });
  const isSignedIn = async ({ cookies }: FastifyRequest) => {
    const secret = cookies[cookieName];
    return secret !== undefined && owners.hasSession(hashSecret(secret), now());
  };
  return {
    isSignedIn,
    async requireOwner(request, reply) {
      if (await isSignedIn(request)) return;
      const to = encodeURIComponent(request.url);
      await reply.header('cache-control', 'no-store').redirect(`/sign-in?to=${to}`, 303);
    },
    async signIn(reply) {
      const { text, hash } = createSecret('rdocs_session');
      await owners.addSession(hash, now() + lifetime, now());
      reply.setCookie(cookieName, text, { ...options, maxAge: lifetime / 1_000 });
    },
    async signOut({ cookies }, reply) {
      const secret = cookies[cookieName];
      if (secret !== undefined) await owners.removeSession(hashSecret(secret));
      reply.clearCookie(cookieName, options);
    },
  };
}

function cookiesOf({ host, origin }: BaseUrl) {
  const isSecure = origin.startsWith('https:');
  // Cookies do not know ports, so a name tells the services of one machine apart.
  const port = host.replace(/^.*?(\d*)$/, '$1');
  return {
    name: (what: string) => (isSecure ? `__Host-docs_${what}` : `docs_${what}_${port}`),
    options: { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure } as const,
  };
}
