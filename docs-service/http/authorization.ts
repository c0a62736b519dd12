import bearerAuth from '@fastify/bearer-auth';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Grant, Scope } from '../auth/accessToken.ts';
import { ForeignProfileError } from '../auth/remoteVerifier.ts';
import type { BaseUrl } from '../base/baseUrl.ts';
import { type Allowance, callerOf, RateLimiter } from '../base/rateLimiter.ts';
import type { Limits } from '../serveConfig.ts';
import { originOf } from './hosts.ts';
import { OpenCount } from './openCount.ts';
import { HttpProblem, pathOf, unavailable } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the bearer of the token may do; set before every route that requires a token. */
    grant: Grant | null;
  }
}

export interface AuthorizationOptions {
  readonly baseUrl: BaseUrl;
  /** The target of the challenge: this service, or another server, which then is the only one to issue tokens. */
  readonly issuer: string;
  readonly verify: (token: string) => Promise<Grant | undefined>;
  readonly limits: Limits;
  readonly now: () => number;
}

export interface Authorization {
  /** Lets a request with any valid token pass, and counts it. Throws HttpProblem. */
  requireBearer(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Lets a request with a token for the scope `read` pass, and counts it. Throws HttpProblem. */
  requireReader(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Whether the token of an accepted request may still read; not counted. */
  stillReads(request: FastifyRequest): Promise<boolean>;
  /** Counts a request of the owner in a browser. Throws HttpProblem if there were too many. */
  countOwnerRequest(reply: FastifyReply): void;
  /** Counts a render. Throws HttpProblem if there were too many. */
  countRender(request: FastifyRequest, reply: FastifyReply): void;
  /** Counts a download until the returned function is called. Throws HttpProblem if there are too many. */
  countDownload(request: FastifyRequest): () => void;
  /** Counts a request of a client without a token, each kind separately. Throws HttpProblem if there were too many. */
  countSignIn(what: 'authorize' | 'token' | 'revoke', address: string): void;
  /** Looks up a token from somebody else. An unknown token counts as a guess. Throws HttpProblem. */
  findToken(token: string, request: FastifyRequest): Promise<Grant | undefined>;
  scopeIsMissing(scope: Scope, request: FastifyRequest): HttpProblem;
}

/** Counts as one caller, however many browsers there are. No token has such an id. */
const owner = 'owner';

/** Each holds a descriptor. */
const downloadBounds = { what: 'downloads', mostOfOne: 32, mostOfAll: 128 };

/** Bearer tokens (RFC 6750) and their limits. */
export async function authorizeBearers(
  app: FastifyInstance,
  options: AuthorizationOptions,
): Promise<Authorization> {
  const requests = new RateLimiter(options.limits.requests, options.now);
  const renders = new RateLimiter(options.limits.renders, options.now);
  const failures = new RateLimiter(options.limits.authFailures, options.now);
  const signIns = new RateLimiter(options.limits.requests, options.now);
  const downloads = new OpenCount(downloadBounds);
  app.decorateRequest('grant', null);
  await app.register(bearerAuth, {
    keys: [],
    addHook: false,
    // The name of the scheme is not case-sensitive (RFC 9110, 11.1).
    specCompliance: 'rfc6749',
    verifyErrorLogLevel: 'debug',
    auth: async (token, request) => {
      request.grant = (await options.verify(token)) ?? null;
      return request.grant !== null;
    },
  });
  const verify = (request: FastifyRequest, reply: FastifyReply) =>
    new Promise<void>((resolve, reject) =>
      app.verifyBearerAuth?.(request, reply, (error) => (error ? reject(error) : resolve())),
    );
  const fail = (request: FastifyRequest, refusal: HttpProblem) => {
    const allowance = failures.take(callerOf(request.ip));
    return allowance.isAllowed ? refusal : tooManyFailures(allowance);
  };
  const requireBearer = async (request: FastifyRequest, reply: FastifyReply) => {
    // Another scheme is not a token, and not a guess at one.
    if (!/^bearer +\S/i.test(request.headers.authorization ?? '')) throw tokenIsMissing(request, options);
    await verify(request, reply).catch((error: Error) => {
      if (error instanceof ForeignProfileError) throw new HttpProblem(403, error.message);
      if (!isRefusal(error)) throw tokensUnavailable(error);
    });
    const { grant } = request;
    if (grant === null) throw fail(request, tokenIsWrong(request, options.baseUrl));
    count(requests, { caller: grant.id, what: 'requests', reply });
  };
  const scopeIsMissing = (scope: Scope, request: FastifyRequest) =>
    new HttpProblem(403, `The token has no scope "${scope}".`, {
      headers: challenge(request, options.baseUrl, { error: 'insufficient_scope', scope }),
    });
  return {
    requireBearer,
    async requireReader(request, reply) {
      await requireBearer(request, reply);
      if (!request.grant?.scopes.includes('read')) throw scopeIsMissing('read', request);
    },
    async stillReads({ grant, headers }) {
      if (grant === null || grant.expires <= options.now()) return false;
      const [, token = ''] = /^bearer +(\S+)/i.exec(headers.authorization ?? '') ?? [];
      // While tokens cannot be checked, the last known state has to do.
      const current = await options
        .verify(token)
        .catch((error: Error) => (error instanceof ForeignProfileError ? undefined : grant));
      return current?.scopes.includes('read') ?? false;
    },
    countOwnerRequest: (reply) => count(requests, { caller: owner, what: 'requests', reply }),
    countRender: (request, reply) =>
      count(renders, { caller: request.grant?.id ?? owner, what: 'renders', reply }),
    countDownload: (request) => downloads.add(request.grant?.id ?? owner),
    countSignIn(what, address) {
      const { isAllowed, resetAfter } = signIns.take(`${what} ${callerOf(address)}`);
      if (!isAllowed) throw tooMany(`More than ${signIns.limit} requests a minute.`, resetAfter);
    },
    async findToken(token, request) {
      const grant = await options.verify(token).catch((error: Error) => {
        throw tokensUnavailable(error);
      });
      if (grant !== undefined) return grant;
      const allowance = failures.take(callerOf(request.ip));
      if (!allowance.isAllowed) throw tooManyFailures(allowance);
      return undefined;
    },
    scopeIsMissing,
  };
}

/** Whether the token is at fault. The code of an error is a number if it is a `DOMException`, such as a timeout. */
function isRefusal(error: Error): boolean {
  return 'code' in error && String(error.code).startsWith('FST_BEARER_AUTH_');
}

/** RFC 6750, section 3, and how a client finds the issuer of tokens (RFC 9728, 5.1). */
function challenge(
  request: FastifyRequest,
  baseUrl: BaseUrl,
  { error, scope = 'read' }: { readonly error?: string; readonly scope?: Scope } = {},
): Record<string, string> {
  const path = /^\/mcp\/?$/.test(pathOf(request)) ? '/mcp' : '';
  const metadata = `${originOf(request, baseUrl)}/.well-known/oauth-protected-resource${path}`;
  const reason = error === undefined ? '' : `, error="${error}"`;
  return {
    'www-authenticate': `Bearer realm="runner-docs"${reason}, resource_metadata="${metadata}", scope="${scope}"`,
  };
}

function tokenIsMissing(
  request: FastifyRequest,
  { baseUrl, issuer }: Pick<AuthorizationOptions, 'baseUrl' | 'issuer'>,
): HttpProblem {
  const source =
    issuer === baseUrl.origin ? '`runner-docs token create` makes one.' : `${issuer} issues one.`;
  return new HttpProblem(401, `This needs a token, as "Authorization: Bearer TOKEN". ${source}`, {
    headers: challenge(request, baseUrl),
  });
}

function tokenIsWrong(request: FastifyRequest, baseUrl: BaseUrl): HttpProblem {
  return new HttpProblem(401, 'The token is unknown, was revoked or has expired.', {
    headers: challenge(request, baseUrl, { error: 'invalid_token' }),
  });
}

/** After some wrong tokens, guesses from this address get no answer. */
function tooManyFailures({ resetAfter }: Allowance): HttpProblem {
  return tooMany('Too many wrong tokens came from this address. A good one still works.', resetAfter);
}

function tooMany(sentence: string, resetAfter: number): HttpProblem {
  return new HttpProblem(429, sentence, { headers: { 'retry-after': String(resetAfter) } });
}

function tokensUnavailable(cause: unknown): HttpProblem {
  return unavailable('Tokens cannot be checked right now. Try again in a moment.', cause);
}

function count(
  limiter: RateLimiter,
  { caller, what, reply }: { readonly caller: string; readonly what: string; readonly reply: FastifyReply },
): void {
  const allowance = limiter.take(caller);
  for (const [name, member] of rateHeaders(limiter, allowance, what)) addMember(reply, name, member);
  if (allowance.isAllowed) return;
  throw tooMany(
    `More than ${limiter.limit} ${what} a minute. Wait ${allowance.resetAfter} s.`,
    allowance.resetAfter,
  );
}

/** The fields of the IETF's draft "RateLimit header fields for HTTP". */
function rateHeaders(limiter: RateLimiter, { remaining, resetAfter }: Allowance, what: string) {
  return [
    ['ratelimit-policy', `"${what}";q=${limiter.limit};w=60`],
    ['ratelimit', `"${what}";r=${remaining};t=${resetAfter}`],
  ] as const;
}

/** Both fields are lists, because a render also counts as a request. */
function addMember(reply: FastifyReply, name: string, member: string): void {
  const before = reply.getHeader(name);
  reply.header(name, before === undefined ? member : `${String(before)}, ${member}`);
}
