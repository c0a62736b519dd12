import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError, type OAuthErrorCode } from '../../auth/authErrors.ts';
import type { Site } from '../pages.ts';
import { HttpProblem, loggedProblemOf, pathOf } from '../problems.ts';
import { signInPaths } from './metadataRoutes.ts';
import { clientProblemPage, type Solution, signInHeaders } from './signInPages.ts';

/** Errors of a plugin's routes are sent as RFC 6749 defines them: `{ error, error_description }`. */
export function answerOAuthErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { code, message, status, headers } =
      error instanceof OAuthError ? error : fromOther(error, request);
    return reply
      .code(status)
      .headers({ 'cache-control': 'no-store', ...headers })
      .type('application/json; charset=utf-8')
      .serializer(JSON.stringify)
      .send({ error: code, error_description: message });
  });
}

/** Converts what other routes would answer as a problem. */
function fromOther(error: FastifyError, request: FastifyRequest): OAuthError {
  const { status: answered, message, headers } = loggedProblemOf(error, request);
  // RFC 6749, 5.2: an error in the request itself is a 400.
  const status = answered === 413 || answered === 415 ? 400 : answered;
  const named = /error="(\w+)"/.exec(headers['www-authenticate'] ?? '')?.[1];
  const isRegistration = status === 400 && pathOf(request).endsWith(signInPaths.registration);
  const usual = isRegistration ? 'invalid_client_metadata' : (codes[status] ?? 'invalid_request');
  const sentence = error.code?.includes('JSON')
    ? 'The body is not valid JSON.'
    : message.replaceAll('"', "'");
  return new OAuthError(named === 'insufficient_scope' ? named : usual, sentence, status, headers);
}

const codes: Readonly<Record<number, OAuthErrorCode>> = {
  401: 'invalid_token',
  403: 'access_denied',
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/** An error for the person at the browser, who is redirected nowhere. */
export class PageError extends Error {
  override readonly name = 'PageError';

  constructor(
    readonly title: string,
    sentence: string,
    readonly solution?: Solution,
    cause?: unknown,
  ) {
    super(sentence, { cause });
  }
}

/** Errors of a plugin's routes are sent as pages. */
export function answerPageErrors(app: FastifyInstance, site: Site): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { title = 'This did not work', solution } = error instanceof PageError ? error : {};
    const { status, message, headers } = pageProblemOf(error, request);
    const page = clientProblemPage({ site, title, sentence: message, solution });
    return sendPage(reply.headers(headers).code(status), page);
  });
}

function pageProblemOf(error: FastifyError, request: FastifyRequest): HttpProblem {
  if (error instanceof PageError) return new HttpProblem(400, error.message);
  if (error instanceof OAuthError) return new HttpProblem(error.status, error.message);
  return String(error.code).startsWith('FST_CSRF_')
    ? new HttpProblem(403, tooOld)
    : loggedProblemOf(error, request);
}

const tooOld =
  'This form is too old, or cookies are off. Go back, load the page again, and send it once more.';

/** @param redirectUri where the page's form may lead in the end */
export function sendPage(reply: FastifyReply, html: string, redirectUri?: string): FastifyReply {
  return reply
    .headers(signInHeaders(redirectUri))
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(html);
}
