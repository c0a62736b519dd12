import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readingPath } from './documentView.ts';
import type { Services } from './services.ts';

type AliasRequest = FastifyRequest<{ Params: { '*': string } }>;

/** Where nothing else is, the addresses that documents had in other programs lead to them. */
export async function aliasRoute(app: FastifyInstance, services: Services): Promise<void> {
  app.get('/*', { config: { isFallback: true } }, async (request: AliasRequest, reply) => {
    const leads = await tryLeadToAlias(services, request, reply);
    return leads ? reply : reply.callNotFound();
  });
}

/**
 * Redirects to the document that has this address as an alias. False if there is none that the reader may see, which
 * looks as if there were none at all.
 */
export async function tryLeadToAlias(
  { findAlias, readPublic, owner, authorization, site }: Services,
  request: AliasRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const isOwner = await owner.isSignedIn(request);
  const find = async () => {
    const { has } = isOwner ? { has: () => true } : await readPublic();
    return findAlias(request.params['*'], ({ slug }) => has(slug));
  };
  // While the index is away, nothing is known of aliases.
  const found = await find().catch(() => undefined);
  if (found === undefined) return false;
  if (isOwner) authorization.countOwnerRequest(reply);
  else if (request.visitor === null) authorization.countVisit(request, reply);
  // Browsers would keep it, and what is public no more is closed at once.
  const headers = { 'cache-control': 'private, no-cache', vary: 'Cookie, Origin' };
  void reply.headers(headers).redirect(readingPath(site, found.slug), 308);
  return true;
}
