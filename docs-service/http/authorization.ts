import bearerAuth from '@fastify/bearer-auth';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Grant, Scope } from '../auth/accessTokens.ts';
import { ForeignProfileError } from '../auth/remoteVerifier.ts';
import type { BaseUrl } from '../base/baseUrl.ts';
import { callerOf, RateLimiter } from '../base/rateLimiter.ts';
import type { Limits } from '../serveConfig.ts';
import { OpenCount, whenClosed } from './connections.ts';
import { HttpProblem, pathOf, unavailable } from './problems.ts';
import { originOf } from './requestChecks.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the bearer of the token may do; set before every route that requires a token. */
    grant: Grant | null;
    /** The address of a stranger, as it is counted; null for everybody else. */
    visitor: string | null;
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

/** Counts as one caller, however many browsers there are. No token has such an id. */
const owner = 'owner';

/** Each holds a descriptor. */
const downloadBounds = { what: 'downloads', one: 'token', maxOfOne: 32, maxOfAll: 128 };
/** Strangers have their own, so that they take nothing from those who have a token. */
const visitorBounds = { what: 'downloads', one: 'address', maxOfOne: 8, maxOfAll: 32 };

export function seesDrafts({ grant }: FastifyRequest): boolean {
  return grant?.scopes.includes('draft') ?? false;
}

/** Bearer tokens (RFC 6750) and their limits. */
export async function authorizeBearers(
  app: FastifyInstance,
  options: AuthorizationOptions,
): Promise<Authorization> {
  app.decorateRequest('grant', null);
  app.decorateRequest('visitor', null);
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
  return new Authorization(app, options);
}

/** What the bearer of a token may do, and how often. */
export class Authorization {
  readonly #limiters: Readonly<Record<keyof Limits | 'signIns' | 'visits', RateLimiter>>;
  readonly #downloads = new OpenCount(downloadBounds);
  readonly #visitorDownloads = new OpenCount(visitorBounds);

  constructor(
    private readonly app: FastifyInstance,
    private readonly options: AuthorizationOptions,
  ) {
    const { requests, renders, authFailures } = options.limits;
    const limiter = (limit: number) => new RateLimiter(limit, options.now);
    this.#limiters = {
      ...{ requests: limiter(requests), signIns: limiter(requests), visits: limiter(requests) },
      ...{ renders: limiter(renders), authFailures: limiter(authFailures) },
    };
  }

  /** Lets a request with any valid token pass, and counts it. A hook. Throws HttpProblem. */
  readonly requireBearer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // Another scheme is not a token, and not a guess at one.
    if (!/^bearer +\S/i.test(request.headers.authorization ?? ''))
      throw tokenIsMissing(request, this.options);
    await this.#verify(request, reply).catch((error: Error) => {
      if (error instanceof ForeignProfileError) throw new HttpProblem(403, error.message);
      // The code is a number if it is a `DOMException`, such as a timeout.
      const isRefusal = 'code' in error && String(error.code).startsWith('FST_BEARER_AUTH_');
      if (!isRefusal) throw tokensUnavailable(error);
    });
    const { grant } = request;
    if (grant === null) {
      this.#countFailure(request);
      throw new HttpProblem(401, 'The token is unknown, was revoked or has expired.', {
        headers: challenge(request, this.options.baseUrl, { error: 'invalid_token' }),
      });
    }
    count(this.#limiters.requests, grant.id, 'requests', reply);
  };

  /** Lets a request with a token for the scope `read` pass, and counts it. A hook. Throws HttpProblem. */
  readonly requireReader = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await this.requireBearer(request, reply);
    if (!request.grant?.scopes.includes('read')) throw this.scopeIsMissing('read', request);
  };

  /** Whether the token of an accepted request may still read; not counted. */
  async stillReads({ grant, headers }: FastifyRequest): Promise<boolean> {
    if (grant === null || grant.expires <= this.options.now()) return false;
    const [, token = ''] = /^bearer +(\S+)/i.exec(headers.authorization ?? '') ?? [];
    // While tokens cannot be checked, the last known state has to do.
    const current = await this.options
      .verify(token)
      .catch((error: Error) => (error instanceof ForeignProfileError ? undefined : grant));
    return current?.scopes.includes('read') ?? false;
  }

  /** Whether a request has a token that may read; not counted, but a wrong one counts as a guess. */
  async hasReader(request: FastifyRequest): Promise<boolean> {
    const [, token] = /^bearer +(\S+)/i.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) return false;
    const grant = await this.findToken(token, request).catch(() => undefined);
    return grant?.scopes.includes('read') ?? false;
  }

  /** Counts a request of the owner in a browser. Throws HttpProblem if there were too many. */
  countOwnerRequest(reply: FastifyReply): void {
    count(this.#limiters.requests, owner, 'requests', reply);
  }

  /** Counts a request of a stranger, by address. Throws HttpProblem if there were too many. */
  countVisit(request: FastifyRequest, reply: FastifyReply): void {
    request.visitor = callerOf(request.ip);
    count(this.#limiters.visits, request.visitor, 'requests', reply);
  }

  countRender(request: FastifyRequest, reply: FastifyReply): void {
    count(this.#limiters.renders, request.grant?.id ?? owner, 'renders', reply);
  }

  /** Counts a download until its answer is closed. Throws HttpProblem if there are too many. */
  countDownload({ grant, visitor }: FastifyRequest, reply: FastifyReply): void {
    const end =
      visitor === null ? this.#downloads.add(grant?.id ?? owner) : this.#visitorDownloads.add(visitor);
    whenClosed(reply, end);
  }

  /** Counts a request of a client without a token, each kind separately. Throws HttpProblem if there were too many. */
  countSignIn(what: 'authorize' | 'token' | 'revoke', address: string): void {
    const { isAllowed, resetAfter } = this.#limiters.signIns.take(`${what} ${callerOf(address)}`);
    if (!isAllowed) throw tooMany(`More than ${this.#limiters.signIns.limit} requests a minute.`, resetAfter);
  }

  /** Looks up a token from somebody else. An unknown token counts as a guess. Throws HttpProblem. */
  async findToken(token: string, request: FastifyRequest): Promise<Grant | undefined> {
    const grant = await this.options.verify(token).catch((error: Error) => {
      throw tokensUnavailable(error);
    });
    if (grant === undefined) this.#countFailure(request);
    return grant;
  }

  scopeIsMissing(scope: Scope, request: FastifyRequest): HttpProblem {
    return new HttpProblem(403, `The token has no scope "${scope}".`, {
      headers: challenge(request, this.options.baseUrl, { error: 'insufficient_scope', scope }),
    });
  }

  #verify(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    return new Promise((resolve, reject) =>
      this.app.verifyBearerAuth?.(request, reply, (error) => (error ? reject(error) : resolve())),
    );
  }

  /** After some wrong tokens, guesses from this address get no answer. */
  #countFailure({ ip }: FastifyRequest): void {
    const { isAllowed, resetAfter } = this.#limiters.authFailures.take(callerOf(ip));
    if (!isAllowed)
      throw tooMany('Too many wrong tokens came from this address. A good one still works.', resetAfter);
  }
}

/** RFC 6750, section 3, and how a client finds the issuer of tokens (RFC 9728, 5.1). */
function challenge(
  request: FastifyRequest,
  baseUrl: BaseUrl,
  { error, scope = 'read' }: { readonly error?: string; readonly scope?: Scope } = {},
): Record<string, string> {
  const isMcp = pathOf(request).replace(/\/$/, '') === `${baseUrl.path}/mcp`;
  const resource = baseUrl.path + (isMcp ? '/mcp' : '');
  const metadata = `${originOf(request, baseUrl)}${resourceMetadataPath}${resource}`;
  const reason = error === undefined ? '' : `, error="${error}"`;
  return {
    'www-authenticate': `Bearer realm="runner-docs"${reason}, resource_metadata="${metadata}", scope="${scope}"`,
  };
}

/** Where clients find the metadata of a resource: before its path (RFC 9728, 3.1). */
export const resourceMetadataPath = '/.well-known/oauth-protected-resource';

function tokenIsMissing(
  request: FastifyRequest,
  { baseUrl, issuer }: Pick<AuthorizationOptions, 'baseUrl' | 'issuer'>,
): HttpProblem {
  const source = issuer === baseUrl.href ? '`runner-docs token create` makes one.' : `${issuer} issues one.`;
  return new HttpProblem(401, `This needs a token, as "Authorization: Bearer TOKEN". ${source}`, {
    headers: challenge(request, baseUrl),
  });
}

function tooMany(sentence: string, resetAfter: number): HttpProblem {
  return new HttpProblem(429, sentence, { headers: { 'retry-after': String(resetAfter) } });
}

function tokensUnavailable(cause: unknown): HttpProblem {
  return unavailable('Tokens cannot be checked right now. Try again in a moment.', cause);
}

/** Sets the fields of the IETF's draft "RateLimit header fields for HTTP". */
function count(limiter: RateLimiter, caller: string, what: string, reply: FastifyReply): void {
  const { isAllowed, remaining, resetAfter } = limiter.take(caller);
  addMember(reply, 'ratelimit-policy', `"${what}";q=${limiter.limit};w=60`);
  addMember(reply, 'ratelimit', `"${what}";r=${remaining};t=${resetAfter}`);
  if (!isAllowed)
    throw tooMany(`More than ${limiter.limit} ${what} a minute. Wait ${resetAfter} s.`, resetAfter);
}

/** Both fields are lists, because a render also counts as a request. */
function addMember(reply: FastifyReply, name: string, member: string): void {
  const before = reply.getHeader(name);
  reply.header(name, before === undefined ? member : `${String(before)}, ${member}`);
}
