import cookie from '@fastify/cookie';
import csrf from '@fastify/csrf-protection';
import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerHookHandler } from 'fastify';
import { createSecret, hashSecret } from '../../auth/accessTokens.ts';
import { Parameters } from '../../auth/oauthRequest.ts';
import type { OwnerStore } from '../../auth/ownerStore.ts';
import type { BaseUrl } from '../../base/baseUrl.ts';
import { HttpProblem, noPage } from '../problems.ts';
import { originOf } from '../requestChecks.ts';

/** Milliseconds that a browser stays signed in. */
const lifetime = 7 * 86_400_000;

/**
 * The browsers in which the owner is signed in.
 *
 * Cookies that no script can read, that other sites send only with a link, and that, with https and without a path, no
 * other host can set (RFC 6265bis, `__Host-`). Cookies ignore ports, so on loopback every program is the same site.
 * Therefore forms also carry a token, in the field `csrf`, which depends on the session's secret.
 */
export async function openOwnerSessions(
  app: FastifyInstance,
  baseUrl: BaseUrl,
  owners: OwnerStore,
  now: () => number,
) {
  const { name, options } = cookiesOf(baseUrl);
  const cookieName = name('session');
  const sessionOf = ({ cookies }: FastifyRequest) => hashSecret(cookies[cookieName] ?? '');
  await app.register(cookie);
  await app.register(csrf, {
    cookieKey: name('form'),
    cookieOpts: options,
    logLevel: 'debug',
    // The session, not a secret key, makes a token unknown to others.
    csrfOpts: { hmacKey: 'runner-docs' },
    getUserInfo: sessionOf,
    getToken: ({ body }) => (body instanceof Parameters ? body.tryGet('csrf') : undefined),
  });
  const isSignedIn = async ({ cookies }: FastifyRequest) => {
    const secret = cookies[cookieName];
    return secret !== undefined && owners.hasSession(hashSecret(secret), now());
  };
  /** The checks that a form must pass. */
  const formGuards: preHandlerHookHandler[] = [
    async (request) => checkSource(request, baseUrl),
    app.csrfProtection,
  ];
  return {
    isSignedIn,
    async requireOwner(request: FastifyRequest, reply: FastifyReply) {
      if (await isSignedIn(request)) return;
      const to = encodeURIComponent(request.url);
      await reply.header('cache-control', 'no-store').redirect(`${baseUrl.path}/sign-in?to=${to}`, 303);
    },
    formGuards,
    /** The token in a form of the answer, only for this browser and this session. */
    formToken: (reply: FastifyReply) => reply.generateCsrf({ userInfo: sessionOf(reply.request) }),
    /** @param epoch of the owner whose password was right */
    async signIn(reply: FastifyReply, epoch: number) {
      const { text, hash } = createSecret('rdocs_session');
      await owners.addSession({ hash, expires: now() + lifetime, epoch }, now());
      reply.setCookie(cookieName, text, { ...options, maxAge: lifetime / 1_000 });
    },
    async signOut({ cookies }: FastifyRequest, reply: FastifyReply) {
      const secret = cookies[cookieName];
      if (secret !== undefined) await owners.removeSession(hashSecret(secret));
      reply.clearCookie(cookieName, options);
    },
  } satisfies OwnerSession & Record<string, unknown>;
}

/** A form of this service must be posted from the address of its page, whatever else runs on this machine. */
function checkSource(request: FastifyRequest, baseUrl: BaseUrl): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const isForeign = origin !== undefined && origin !== originOf(request, baseUrl);
  if (isForeign || (site !== undefined && site !== 'same-origin'))
    throw new HttpProblem(403, 'This form was sent by another page. Open the page here, and try again.');
}

function cookiesOf({ host, origin, path }: BaseUrl) {
  const isSecure = origin.startsWith('https:');
  // Cookies ignore ports, so each service on a machine needs its own cookie name.
  const port = host.replace(/^.*?(\d*)$/, '$1');
  // Browsers take a `__Host-` cookie only for the whole host.
  const prefix = path === '' ? '__Host-' : '__Secure-';
  return {
    name: (what: string) => (isSecure ? `${prefix}docs_${what}` : `docs_${what}_${port}`),
    options: { path: path || '/', httpOnly: true, sameSite: 'lax', secure: isSecure } as const,
  };
}

/** What the owner's pages need to know about their reader. */
export interface OwnerSession {
  isSignedIn(request: FastifyRequest): Promise<boolean>;
  /**
   * Lets a request with a session pass, and sends any other to the sign-in, which leads back to it. It resolves after
   * that answer was sent (`await reply.redirect(…)`), so that nothing else answers.
   */
  requireOwner(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Where another server signs people in, there are no sessions. */
export const noOwner: OwnerSession = {
  isSignedIn: () => Promise.resolve(false),
  requireOwner: () => Promise.reject(noPage()),
};
