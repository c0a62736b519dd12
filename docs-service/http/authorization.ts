import bearerAuth from '@fastify/bearer-auth';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Grant } from '../auth/accessToken.ts';
import type { Limits } from '../serveConfig.ts';
import { unavailable } from './errors.ts';
import { HttpProblem } from './problem.ts';
import { type Allowance, callerOf, RateLimiter } from './rateLimiter.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the bearer of the token may do; set before any route that wants a token. */
    grant: Grant | null;
  }
}

export interface AuthorizationOptions {
  readonly verify: (token: string) => Promise<Grant | undefined>;
  readonly limits: Limits;
  readonly now: () => number;
}

export interface Authorization {
  /** Lets a request pass that has a token with the scope `read`, and counts it. Throws HttpProblem. */
  requireReader(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Counts a render. Throws HttpProblem where there were too many. */
  countRender(request: FastifyRequest, reply: FastifyReply): void;
}

const challenge = 'Bearer realm="runner-docs"';

/** Bearer tokens (RFC 6750) and the limits that hang on them. */
export async function authorizeBearers(
  app: FastifyInstance,
  options: AuthorizationOptions,
): Promise<Authorization> {
  const requests = new RateLimiter(options.limits.requests, options.now);
  const renders = new RateLimiter(options.limits.renders, options.now);
  const failures = new RateLimiter(options.limits.authFailures, options.now);
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
  return {
    async requireReader(request, reply) {
      // Another scheme is no token at all, and no guess at one.
      if (!/^bearer +\S/i.test(request.headers.authorization ?? '')) throw tokenIsMissing();
      await verify(request, reply).catch((error: FastifyErrorLike) => {
        if (!isRefusal(error))
          throw unavailable('Tokens cannot be checked right now. Try again in a moment.', error);
        throw failed(failures, request);
      });
      const { grant } = request;
      if (grant === null) throw failed(failures, request);
      count(requests, { caller: grant.id, what: 'requests', reply });
      if (!grant.scopes.includes('read')) throw scopeIsMissing();
    },
    countRender: (request, reply) =>
      count(renders, { caller: request.grant?.id ?? '', what: 'renders', reply }),
  };
}

interface FastifyErrorLike {
  readonly code?: string;
}

function isRefusal({ code }: FastifyErrorLike): boolean {
  return code?.startsWith('FST_BEARER_AUTH_') ?? false;
}

function tokenIsMissing(): HttpProblem {
  return new HttpProblem(
    401,
    'This needs a token, as "Authorization: Bearer TOKEN". `runner-docs token create` makes one.',
    {
      headers: { 'www-authenticate': challenge },
    },
  );
}

/** Whoever guesses tokens from one address soon gets no answer to the guess any more. */
function failed(failures: RateLimiter, request: FastifyRequest): HttpProblem {
  const allowance = failures.take(callerOf(request.ip));
  if (!allowance.isAllowed)
    return new HttpProblem(429, 'Too many wrong tokens came from this address. A good one still works.', {
      headers: { 'retry-after': String(allowance.resetAfter) },
    });
  return new HttpProblem(401, 'The token is unknown, was revoked or has expired.', {
    headers: { 'www-authenticate': `${challenge}, error="invalid_token"` },
  });
}

function scopeIsMissing(): HttpProblem {
  return new HttpProblem(403, 'The token has no scope "read".', {
    headers: { 'www-authenticate': `${challenge}, error="insufficient_scope", scope="read"` },
  });
}

function count(
  limiter: RateLimiter,
  { caller, what, reply }: { readonly caller: string; readonly what: string; readonly reply: FastifyReply },
): void {
  const allowance = limiter.take(caller);
  reply.headers(rateHeaders(limiter, allowance, what));
  if (allowance.isAllowed) return;
  throw new HttpProblem(429, `More than ${limiter.limit} ${what} a minute. Wait ${allowance.resetAfter} s.`, {
    headers: { 'retry-after': String(allowance.resetAfter) },
  });
}

/** The fields of the IETF's draft "RateLimit header fields for HTTP". */
function rateHeaders(limiter: RateLimiter, { remaining, resetAfter }: Allowance, what: string) {
  return {
    'ratelimit-policy': `"${what}";q=${limiter.limit};w=60`,
    ratelimit: `"${what}";r=${remaining};t=${resetAfter}`,
  };
}
