import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError, type OAuthErrorCode } from '../../auth/oauthError.ts';
import type { Site } from '../pages.ts';
import { loggedProblemOf, pathOf } from '../problems.ts';
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
  readonly title: string;
  readonly solution: Solution | undefined;

  constructor(title: string, sentence: string, solution?: Solution, cause?: unknown) {
    super(sentence, { cause });
    this.title = title;
    this.solution = solution;
  }
}

/** Errors of a plugin's routes are sent as pages. */
export function answerPageErrors(app: FastifyInstance, site: Site): void {
  const sendError = (reply: FastifyReply, status: number, sentence: string) =>
    sendPage(reply.code(status), clientProblemPage({ site, title: 'This did not work', sentence }));
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof PageError)
      return sendPage(
        reply.code(400),
        clientProblemPage({ site, title: error.title, sentence: error.message, solution: error.solution }),
      );
    if (error instanceof OAuthError) return sendError(reply, error.status, error.message);
    if (String(error.code).startsWith('FST_CSRF_'))
      return sendError(
        reply,
        403,
        'This form is too old, or cookies are off. Go back, load the page again, and send it once more.',
      );
    const { status, message, headers } = loggedProblemOf(error, request);
    return sendError(reply.headers(headers), status, message);
  });
}

/** @param redirectUri where the page's form may lead in the end */
export function sendPage(reply: FastifyReply, html: string, redirectUri?: string): FastifyReply {
  return reply
    .headers(signInHeaders(redirectUri))
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(html);
}
