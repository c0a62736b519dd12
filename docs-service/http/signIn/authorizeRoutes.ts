import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Scope } from '../../auth/accessTokens.ts';
import { GuardedFetchError, OAuthError } from '../../auth/authErrors.ts';
import type { OAuthClient } from '../../auth/clientStore.ts';
import { isLoopbackRedirect, isRedirectAllowed, redirectUriProblem } from '../../auth/clientStore.ts';
import { isClientId, isDocumentAddress } from '../../auth/identifiers.ts';
import { type AuthorizationRequest, Parameters, parseAuthorizationRequest } from '../../auth/oauthRequest.ts';
import type { BaseUrl } from '../../base/baseUrl.ts';
import { quoteForShell } from '../../base/text.ts';
import { consentPage } from './consentPage.ts';
import { formOf, queryOf, readForms } from './formBody.ts';
import { signInPaths } from './metadataRoutes.ts';
import { answerPageErrors, PageError, sendPage } from './signInErrors.ts';
import type { Solution } from './signInPages.ts';
import type { SignInServices } from './signInServices.ts';
import { meOf } from './tokenRoutes.ts';

const decisionPath = `${signInPaths.authorization}/decision`;

/** A client asks, and the owner answers on a page: the authorization endpoint of OAuth and IndieAuth. */
export async function authorizeRoutes(app: FastifyInstance, services: SignInServices): Promise<void> {
  const { baseUrl, site, clients, owners, sessions, issuer, authorization, now } = services;
  readForms(app);
  answerPageErrors(app, site);

  app.get(signInPaths.authorization, async (request, reply) => {
    authorization.countSignIn('authorize', request.ip);
    const query = queryOf(request);
    const isOwner = await sessions.isSignedIn(request);
    const asked = await readRequest(query, { ...services, isOwner });
    if (asked.kind === 'refused') return sendBack(reply.code(302), asked.location);
    if (asked.kind === 'asked' && isOwner) return sendConsent(services, reply, asked);
    await sessions.requireOwner(request, reply);
    return reply;
  });

  app.post(decisionPath, { preHandler: sessions.formGuards }, async (request, reply) => {
    const form = formOf(request.body);
    const query = form.get('request');
    // Read before the session is checked: a new password ends both.
    const { epoch } = await owners.read();
    if (!(await sessions.isSignedIn(request))) return askAgain(reply, query, baseUrl);
    const asked = await readRequest(query, { ...services, isOwner: true });
    if (asked.kind === 'refused') return sendBack(reply.code(303), asked.location);
    if (asked.kind === 'unknown') return askAgain(reply, query, baseUrl);
    if (form.tryGet('decision') !== 'allow')
      return sendBack(reply.code(303), locationOf(asked, baseUrl, refusal));
    const scopes = tickedScopes(form, asked);
    if (scopes.length === 0 && asked.scopes.length > 0)
      return sendConsent(services, reply, asked, nothingTicked);
    const { client, redirectUri, challenge } = asked;
    await clients.noteGrant(client.id, now());
    const me = meOf(await owners.read(), baseUrl);
    const code = await issuer.createCode(me, { client: client.id, redirectUri, challenge, scopes, epoch });
    return sendBack(reply.code(303), locationOf(asked, baseUrl, { code }));
  });
}

async function sendConsent(
  { owners, baseUrl, site, sessions }: SignInServices,
  reply: FastifyReply,
  asked: ConsentRequest,
  problem?: string,
): Promise<FastifyReply> {
  const me = meOf(await owners.read(), baseUrl);
  const form = { action: site.root + decisionPath, request: asked.query, csrf: sessions.formToken(reply) };
  const page = consentPage({ ...asked, ...form, site, me, problem });
  return sendPage(reply, page, asked.redirectUri);
}

const refusal = { error: 'access_denied', error_description: 'The owner has not allowed it.' };
const nothingTicked = 'Nothing is ticked. Tick what the app may do, or choose Cancel.';

/** The requested scopes that the owner has ticked. The email address is part of the profile. */
function tickedScopes(form: Parameters, asked: ConsentRequest): readonly Scope[] {
  const ticked = form.getAll('scope');
  const scopes = asked.scopes.filter((scope) => ticked.includes(scope));
  return scopes.includes('profile') ? scopes : scopes.filter((scope) => scope !== 'email');
}

/** The session has ended while the page was open. */
function askAgain(reply: FastifyReply, query: string, { path }: BaseUrl): FastifyReply {
  const to = encodeURIComponent(`${path}${signInPaths.authorization}?${query}`);
  return reply.header('cache-control', 'no-store').redirect(`${path}/sign-in?to=${to}`, 303);
}

interface ConsentRequest extends AuthorizationRequest {
  readonly kind: 'asked';
  /** The original request, which the form carries along. */
  readonly query: string;
  readonly client: OAuthClient;
  readonly redirectUri: string;
}

/** `location` is where the client learns the reason. Unknown is one that is not looked up for strangers any more. */
type NoRequest = { readonly kind: 'refused'; readonly location: string } | { readonly kind: 'unknown' };

/** For whom more is fetched if it is the owner. */
type Asker = SignInServices & { readonly isOwner: boolean };

/** Throws PageError if the request may not come from the client that it names. */
async function readRequest(query: string, options: Asker): Promise<ConsentRequest | NoRequest> {
  const parameters = new Parameters(query, 8_192);
  const found = await readClient(parameters, options);
  if (found === undefined) return { kind: 'unknown' };
  const { client, redirectUri } = found;
  try {
    const request = parseAuthorizationRequest(parameters, options.baseUrl);
    return { kind: 'asked', query, client, redirectUri, ...request };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const answer = { error: error.code, error_description: error.message };
    const location = locationOf({ redirectUri, state: tryState(parameters) }, options.baseUrl, answer);
    return { kind: 'refused', location };
  }
}

async function readClient(parameters: Parameters, options: Asker) {
  const id = parameters.get('client_id');
  const redirectUri = parameters.get('redirect_uri');
  const problem = redirectUriProblem(redirectUri);
  if (problem !== undefined)
    throw new PageError('The app sent a redirect address that cannot be used', problem);
  const solution = addCommand(id, redirectUri, options.dataHint);
  const client = await findClient(id, options, solution);
  if (client === undefined || isRedirectAllowed(client, redirectUri))
    return client && { client, redirectUri };
  throw new PageError(
    'The app wants its answer at an address that is not its own',
    `${redirectUri} is not one of the addresses that ${id} has named.`,
    isLoopbackRedirect(redirectUri) && client.source !== 'registration' ? solution : undefined,
  );
}

/** Undefined if a stranger must sign in first, because too much was looked up for strangers. */
async function findClient(
  id: string,
  { clients, documents, isOwner }: Asker,
  solution: Solution,
): Promise<OAuthClient | undefined> {
  try {
    // A client that the owner added takes precedence over its document.
    const known = isClientId(id) ? await clients.find(id) : undefined;
    if (known !== undefined) return known;
    if (isClientId(id) && isDocumentAddress(id))
      return await documents.find(id, isOwner ? 'owner' : 'stranger');
  } catch (cause) {
    if (!(cause instanceof GuardedFetchError)) throw cause;
    if (cause.kind === 'busy' && !isOwner) return undefined;
    throw new PageError('The app cannot be looked up', cause.message, solution, cause);
  }
  throw new PageError(
    'The app is not known here',
    'It is not registered here, or not any more. Remove this server in the app, add it again, and sign in once more.',
  );
}

/**
 * A line to paste into a shell. It must not admit somebody who only uses the name of an app, so it repeats no redirect
 * address that leads elsewhere.
 */
function addCommand(id: string, redirectUri: string, hint: string): Solution {
  const isLocal = isLoopbackRedirect(redirectUri);
  const to = isLocal ? quoteForShell(redirectUri) : placeholder;
  const flags = `--client-id ${quoteForShell(id)} --redirect-uri ${to} --name ${quoteForShell('Its name')}`;
  const commandLine = ['runner-docs client add', ...(hint === '' ? [] : [hint]), flags].join(' ');
  return isLocal ? { commandLine } : { commandLine, note: whereToLook };
}

const placeholder = 'REDIRECT_ADDRESS';
const whereToLook = `Replace ${placeholder} with the redirect address (redirect URI) in the app's own documentation, or ask who makes the app. The address in this request may be somebody else's, so it is not filled in.`;

/** RFC 6749, 4.1.2, and `iss`, which tells a client who answers (RFC 9207). */
function locationOf(
  { redirectUri, state }: { readonly redirectUri: string; readonly state: string | undefined },
  { href }: BaseUrl,
  answer: { readonly code: string } | typeof refusal,
): string {
  const all = { ...answer, ...(state === undefined ? {} : { state }), iss: href };
  // The address's own query stays as the client wrote it.
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${new URLSearchParams(all)}`;
}

function sendBack(reply: FastifyReply, location: string): FastifyReply {
  return reply.headers({ 'cache-control': 'no-store', location }).send();
}

function tryState(parameters: Parameters): string | undefined {
  const [state, ...more] = parameters.getAll('state');
  return more.length === 0 ? state : undefined;
}
