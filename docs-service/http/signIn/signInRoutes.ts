import type { FastifyInstance, FastifyReply } from 'fastify';
import { OAuthError } from '../../auth/authErrors.ts';
import { Parameters } from '../../auth/oauthRequest.ts';
import type { PasswordAnswer } from '../../auth/passwords.ts';
import type { BaseUrl } from '../../base/baseUrl.ts';
import { callerOf } from '../../base/rateLimiter.ts';
import { authorizeRoutes } from './authorizeRoutes.ts';
import { formOf, queryOf, readForms } from './formBody.ts';
import type { OwnerSession } from './ownerSessions.ts';
import { registerRoute } from './registerRoute.ts';
import { answerPageErrors, sendPage } from './signInErrors.ts';
import { signedOutPage, signInPage, signOutPage } from './signInPages.ts';
import { type AuthorizationServerOptions, openSignIn, type SignInServices } from './signInServices.ts';
import { meOf, tokenRoutes } from './tokenRoutes.ts';

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

/** The owner's password opens the pages for people and the consent page. */
async function signInRoutes(app: FastifyInstance, services: SignInServices): Promise<void> {
  const { baseUrl, site, owners, sessions, passwords, dataHint } = services;
  const sendForm = async (reply: FastifyReply, to: string, error?: string) => {
    const owner = await owners.read();
    const hasPassword = owner.password !== null;
    const csrf = sessions.formToken(reply);
    const me = meOf(owner, baseUrl);
    return sendPage(reply, signInPage({ site, csrf, to, error, hasPassword, me, dataHint }));
  };
  readForms(app);
  answerPageErrors(app, site);
  app.get('/sign-in', async (request, reply) => {
    const to = localPath(new Parameters(queryOf(request), 16_384).tryGet('to'), baseUrl);
    if (await sessions.isSignedIn(request)) return reply.redirect(to, 303);
    return sendForm(reply, to);
  });
  const guarded = { preHandler: sessions.formGuards };
  app.post('/sign-in', guarded, async (request, reply) => {
    const form = formOf(request.body);
    const to = localPath(form.tryGet('to'), baseUrl);
    const answer = await passwords.check(form.tryGet('password') ?? '', callerOf(request.ip));
    if (answer.kind !== 'right') return sendForm(refuse(reply, answer.kind), to, sentences[answer.kind]);
    await sessions.signIn(reply, answer.epoch);
    return reply.header('cache-control', 'no-store').redirect(to, 303);
  });
  app.get('/sign-out', async (_request, reply) =>
    sendPage(reply, signOutPage({ site, csrf: sessions.formToken(reply) })),
  );
  app.post('/sign-out', guarded, async (request, reply) => {
    await sessions.signOut(request, reply);
    return sendPage(reply, signedOutPage(site));
  });
}

type Refusal = Exclude<PasswordAnswer['kind'], 'right'>;

const sentences: Readonly<Record<Refusal, string>> = {
  wrong: 'This is not the password.',
  tooMany: 'Too many wrong passwords came from your address. Wait a minute, and try again.',
  busy: 'Too many sign-ins are in progress. Try again in a moment.',
};

function refuse(reply: FastifyReply, answer: Refusal): FastifyReply {
  if (answer === 'wrong') return reply.code(403);
  return reply.code(answer === 'busy' ? 503 : 429).header('retry-after', answer === 'busy' ? '5' : '60');
}

/** A sign-in leads only to a page of this service. */
function localPath(to: string | undefined, { origin, path }: BaseUrl): string {
  if (to === undefined) return `${path}/read`;
  const isPath = /^\/(?![/\\])[!-~]*$/.test(to) && URL.canParse(to, origin);
  const url = isPath ? new URL(to, origin) : undefined;
  if (url?.origin !== origin || !`${url.pathname}/`.startsWith(`${path}/`))
    throw new OAuthError('invalid_request', `The sign-in does not lead to this address. Go to ${path}/read.`);
  return to;
}
