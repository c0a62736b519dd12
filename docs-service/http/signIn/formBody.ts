import type { FastifyInstance } from 'fastify';
import { OAuthError } from '../../auth/oauthError.ts';
import { Parameters } from '../../auth/oauthRequest.ts';

/** In bytes. */
const maxBytes = 32_768;

/** Lets the routes of a plugin read the posts of forms and OAuth clients. */
export function readForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: maxBytes },
    async (_request: unknown, body: string | Buffer) => new Parameters(String(body), { longest: maxBytes }),
  );
}

/** Throws OAuthError if the body is not a form. */
export function formOf(body: unknown): Parameters {
  if (body instanceof Parameters) return body;
  throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded.');
}

/** The query, without its question mark. */
export function queryOf({ url }: { readonly url: string }): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}
