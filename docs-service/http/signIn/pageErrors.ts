import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { OAuthError } from '../../auth/oauthError.ts';
import { problemOf } from '../errors.ts';
import { clientProblemPage, type Solution, signInHeaders } from './signInPages.ts';

/** An error for the person at the browser, who is redirected nowhere. */
export class PageError extends Error {
  override readonly name = 'PageError';
  readonly title: string;
  readonly solution: Solution | undefined;

  constructor(
    title: string,
    sentence: string,
    more: { readonly solution?: Solution; readonly cause?: unknown } = {},
  ) {
    super(sentence, { cause: more.cause });
    this.title = title;
    this.solution = more.solution;
  }
}

/** Errors of a plugin's routes are sent as pages. */
export function answerPageErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof PageError)
      return sendPage(
        reply.code(400),
        clientProblemPage({ title: error.title, sentence: error.message, solution: error.solution }),
      );
    if (error instanceof OAuthError) return sendError(reply, error.status, error.message);
    if (String(error.code).startsWith('FST_CSRF_'))
      return sendError(
        reply,
        403,
        'This form is too old, or cookies are off. Go back, load the page again, and send it once more.',
      );
    const { status, message, headers } = problemOf(error);
    if (status === 500) request.log.error({ err: error }, 'a defect');
    return sendError(reply.headers(headers), status, message);
  });
}

function sendError(reply: FastifyReply, status: number, sentence: string): FastifyReply {
  return sendPage(reply.code(status), clientProblemPage({ title: 'This did not work', sentence }));
}

/** @param redirectUri where the page's form may lead in the end */
export function sendPage(reply: FastifyReply, html: string, redirectUri?: string): FastifyReply {
  return reply
    .headers(signInHeaders(redirectUri))
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(html);
}
