import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OAuthError } from '../../auth/authErrors.ts';
import { Parameters } from '../../auth/oauthRequest.ts';

/** In bytes. */
const maxBytes = 32_768;

/** Lets the routes of a plugin read the posts of forms and OAuth clients. */
export function readForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: maxBytes },
    async (_request: unknown, body: string | Buffer) => new Parameters(String(body), maxBytes),
  );
}

/** Throws OAuthError if the body is not a form. */
export function formOf(body: unknown): Parameters {
  if (body instanceof Parameters) return body;
  throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded.');
}

/** The form of a public client, which may name itself by HTTP Basic with an empty secret (RFC 6749, 2.3.1). */
export function clientFormOf({ body, headers }: Pick<FastifyRequest, 'body' | 'headers'>): Parameters {
  const form = formOf(body);
  const [, encoded = ''] = /^basic +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const [, id = ''] = /^([^&]+):$/.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return id === '' ? form : form.with('client_id', new URLSearchParams(`id=${id}`).get('id') ?? '');
}

/** The query, without its question mark. */
export function queryOf({ url }: { readonly url: string }): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}
