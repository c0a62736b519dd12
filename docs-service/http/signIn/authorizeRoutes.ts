import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { type AuthorizationRequest, parseAuthorizationRequest } from '../../auth/authorizationRequest.ts';
import type { ClientFinder } from '../../auth/clientFinder.ts';
import type { ClientStore } from '../../auth/clientStore.ts';
import type { OAuthClient } from '../../auth/oauthClient.ts';
import { OAuthError } from '../../auth/oauthError.ts';
import { OutsideError } from '../../auth/outsideError.ts';
import type { OwnerStore } from '../../auth/ownerStore.ts';
import { Parameters } from '../../auth/parameters.ts';
import { isLoopbackName, isRedirectAllowed, redirectUriProblem } from '../../auth/redirectUri.ts';
import type { Scope } from '../../auth/scope.ts';
import type { TokenIssuer } from '../../auth/tokenIssuer.ts';
import type { BaseUrl } from '../../baseUrl.ts';
import { quoteForShell } from '../../shellQuote.ts';
import type { Authorization } from '../authorization.ts';
import { type ConsentPage, consentPage } from './consentPage.ts';
import { formOf, queryOf, readForms } from './formBody.ts';
import { signInPaths } from './metadataRoutes.ts';
import type { OwnerSessions } from './ownerSessions.ts';
import { answerPageErrors, PageError, sendPage } from './pageErrors.ts';
import { meOf } from './tokenRoutes.ts';

export interface AuthorizeRoutesOptions {
  readonly baseUrl: BaseUrl;
  readonly finder: ClientFinder;
  readonly clients: ClientStore;
  readonly owners: OwnerStore;
  readonly sessions: OwnerSessions;
  readonly issuer: TokenIssuer;
  readonly authorization: Authorization;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** What `runner-docs client add` needs besides for this very service, such as `--data /srv/docs`. */
  readonly dataHint: string;
}

const decisionPath = `${signInPaths.authorization}/decision`;

/** A client asks, and the owner answers on a page: the authorization endpoint of OAuth and IndieAuth. */
export function createAuthorizeRoutes(options: AuthorizeRoutesOptions): FastifyPluginAsync {
  const { baseUrl, clients, owners, sessions, issuer, authorization, now } = options;
  const hidden = { schema: { hide: true } };
  return async (app) => {
    readForms(app);
    answerPageErrors(app);
    app.get(signInPaths.authorization, hidden, async (request, reply) => {
      authorization.countSignIn(request.ip);
      const query = queryOf(request);
      const asked = await readRequest(query, options);
      if (asked.kind === 'refused') return sendBack(reply.code(302), asked.location);
      await sessions.requireOwner(request, reply);
      return reply.sent ? reply : sendConsent(reply, asked, query);
    });

    app.post(decisionPath, { ...hidden, preHandler: app.csrfProtection }, async (request, reply) => {
      const form = formOf(request.body);
      const query = form.get('request');
      const asked = await readRequest(query, options);
      if (asked.kind === 'refused') return sendBack(reply.code(303), asked.location);
      if (!(await sessions.isSignedIn(request))) return askAgain(reply, query);
      const answer = await answerOf(form, asked);
      return sendBack(reply.code(303), locationOf(asked, baseUrl, answer));
    });
  };

  async function sendConsent(reply: FastifyReply, asked: Asked, request: string): Promise<FastifyReply> {
    const csrf = reply.generateCsrf();
    const me = meOf(await owners.read(), baseUrl);
    const page = consentPage({ ...describe(asked), action: decisionPath, request, csrf, me });
    return sendPage(reply, page, asked.redirectUri);
  }

  /** What the owner has ticked, of what was asked for, as a code; or that the owner said no. */
  async function answerOf(form: Parameters, asked: Asked): Promise<Answer> {
    const ticked = form.getAll('scope');
    const scopes = asked.scopes.filter((scope) => ticked.includes(scope));
    if (form.tryGet('decision') !== 'allow' || (scopes.length === 0 && asked.scopes.length > 0))
      return { error: 'access_denied', error_description: 'The owner has not allowed it.' };
    const { client, redirectUri, challenge } = asked;
    await clients.noteGrant(client.id, now());
    const me = meOf(await owners.read(), baseUrl);
    return { code: await issuer.createCode({ client: client.id, redirectUri, challenge, scopes, me }) };
  }
}

/** The session has ended while the page was open. */
function askAgain(reply: FastifyReply, query: string): FastifyReply {
  const to = encodeURIComponent(`${signInPaths.authorization}?${query}`);
  return reply.header('cache-control', 'no-store').redirect(`/sign-in?to=${to}`, 303);
}

interface Asked extends AuthorizationRequest {
  readonly kind: 'asked';
  readonly client: OAuthClient;
  readonly redirectUri: string;
}

interface Refused {
  readonly kind: 'refused';
  /** Where the client learns why. */
  readonly location: string;
}

/** Throws PageError where the request may come from somebody else than the client that it names. */
async function readRequest(query: string, options: AuthorizeRoutesOptions): Promise<Asked | Refused> {
  const parameters = new Parameters(query);
  const { client, redirectUri } = await readClient(parameters, options);
  try {
    return { kind: 'asked', client, redirectUri, ...parseAuthorizationRequest(parameters, options.baseUrl) };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const answer = { error: error.code, error_description: error.message };
    const location = locationOf({ redirectUri, state: tryState(parameters) }, options.baseUrl, answer);
    return { kind: 'refused', location };
  }
}

async function readClient(parameters: Parameters, options: AuthorizeRoutesOptions) {
  const id = parameters.get('client_id');
  const redirectUri = parameters.get('redirect_uri');
  const problem = redirectUriProblem(redirectUri);
  if (problem !== undefined)
    throw new PageError('The app sent a redirect address that cannot be used', problem);
  const commandLine = addCommand({ id, redirectUri, hint: options.dataHint });
  const client = await findClient(id, { finder: options.finder, commandLine });
  if (isRedirectAllowed(client, redirectUri)) return { client, redirectUri };
  throw new PageError(
    'The app wants its answer at an address that is not its own',
    `${redirectUri} is none of the addresses that ${id} has named.`,
    client.source === 'registration' ? {} : { commandLine },
  );
}

async function findClient(
  id: string,
  { finder, commandLine }: { readonly finder: ClientFinder; readonly commandLine: string },
): Promise<OAuthClient> {
  const found = await finder.find(id).catch((cause: unknown) => {
    if (!(cause instanceof OutsideError)) throw cause;
    throw new PageError('The app cannot be looked up', cause.message, { commandLine, cause });
  });
  if (found !== undefined) return found;
  throw new PageError(
    'The app is not known here',
    'It is not registered here, or is no longer. Remove this server in the app, add it again, and sign in once more.',
  );
}

/** A line to paste into a shell. */
function addCommand({ id, redirectUri, hint }: { id: string; redirectUri: string; hint: string }): string {
  const parts = [
    '--client-id',
    quoteForShell(id),
    '--redirect-uri',
    quoteForShell(redirectUri),
    '--name',
    quoteForShell('Its name'),
  ];
  return ['runner-docs client add', ...(hint === '' ? [] : [hint]), ...parts].join(' ');
}

type Answer = { readonly code: string } | { readonly error: string; readonly error_description: string };

/** RFC 6749, 4.1.2, and `iss`, by which a client knows who answers (RFC 9207). */
function locationOf(
  { redirectUri, state }: { readonly redirectUri: string; readonly state: string | undefined },
  { origin }: BaseUrl,
  answer: Answer,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.append(name, value);
  if (state !== undefined) url.searchParams.append('state', state);
  url.searchParams.append('iss', origin);
  return url.href;
}

function sendBack(reply: FastifyReply, location: string): FastifyReply {
  return reply.headers({ 'cache-control': 'no-store', location }).send();
}

function tryState(parameters: Parameters): string | undefined {
  const [state, ...more] = parameters.getAll('state');
  return more.length === 0 ? state : undefined;
}

function describe({
  client,
  redirectUri,
  scopes,
}: Asked): Omit<ConsentPage, 'action' | 'request' | 'csrf' | 'me'> {
  const redirect = new URL(redirectUri);
  const clientHost = URL.canParse(client.id) ? new URL(client.id).host : '';
  const isLocal = redirect.protocol === 'http:' && isLoopbackName(redirect.hostname);
  const redirectHost = /^https?:$/.test(redirect.protocol)
    ? redirect.host
    : `${redirect.protocol}//${redirect.host}`;
  return {
    ...{ client, clientHost, redirectHost, isLocal },
    isRedirectElsewhere: clientHost !== '' && redirectHost !== clientHost,
    scopes: scopes.map((scope) => ({ scope, sentence: sentences[scope], isAsked: true })),
  };
}

const sentences: Readonly<Record<Scope, string>> = {
  read: 'It can search and read everything that is published, and fetch it as Markdown, PDF and EPUB.',
  draft: 'It can also see what is not published yet.',
  profile: 'It learns the name, the address and the picture that you have set for yourself.',
  email: 'It learns your email address, as far as you have set one.',
};
