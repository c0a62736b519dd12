import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OAuthError, type OAuthErrorCode } from '../../auth/oauthError.ts';
import { pathOf, problemOf } from '../errors.ts';
import { signInPaths } from './metadataRoutes.ts';

/** Errors of a plugin's routes are sent as RFC 6749 defines them: `{ error, error_description }`. */
export function answerOAuthErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => sendOAuthError(error, request, reply));
}

function sendOAuthError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, message, status, headers } = error instanceof OAuthError ? error : fromOther(error, request);
  return reply
    .code(status)
    .headers({ 'cache-control': 'no-store', ...headers })
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send({ error: code, error_description: message });
}

/** Converts what other routes would answer as a problem. */
function fromOther(error: FastifyError, request: FastifyRequest): OAuthError {
  const { status: answered, message, headers } = problemOf(error);
  // RFC 6749, 5.2: an error in the request itself is a 400.
  const status = answered === 413 || answered === 415 ? 400 : answered;
  if (status === 500) request.log.error({ err: error }, 'a defect');
  const named = /error="(\w+)"/.exec(headers['www-authenticate'] ?? '')?.[1];
  const isRegistration = status === 400 && pathOf(request) === signInPaths.registration;
  const usual = isRegistration ? 'invalid_client_metadata' : (codes[status] ?? 'invalid_request');
  const sentence = error.code?.includes('JSON')
    ? 'The body is not valid JSON.'
    : message.replaceAll('"', "'");
  return new OAuthError(named === 'insufficient_scope' ? named : usual, sentence, { status, headers });
}

const codes: Readonly<Record<number, OAuthErrorCode>> = {
  401: 'invalid_token',
  403: 'access_denied',
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
};
