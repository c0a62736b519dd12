import type { FastifyReply, FastifyRequest } from 'fastify';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { BaseUrl } from '../base/baseUrl.ts';
import { LruCache } from '../base/lruCache.ts';
import type { DocumentFilter, DocumentIndex } from '../search/documentIndex.ts';
import { createEtag, isNotModified, setValidators } from './conditional.ts';
import { documentToView } from './documentView.ts';
import { type ListParameters, usualLimit } from './schemas.ts';

/** An answer that is ready to be sent. */
interface ListAnswer {
  readonly body: string;
  readonly etag: string;
  readonly total: number;
  readonly link: string;
}

/** In characters of all cached answers. */
const cacheSize = 16_000_000;

/** In characters. */
const maxLinkLength = 4_096;

interface ListRouteOptions {
  readonly index: DocumentIndex;
  readonly baseUrl: BaseUrl;
}

/** Answers `GET /api/v1/docs`. An answer is cached until something in the library changes. */
export function createListRoute({ index, baseUrl }: ListRouteOptions) {
  const answers = new LruCache<ListAnswer>(cacheSize);
  let generation = index.generation;
  return async (request: FastifyRequest<{ Querystring: ListParameters }>, reply: FastifyReply) => {
    if (generation !== index.generation) {
      answers.clear();
      generation = index.generation;
    }
    const drafts = request.grant?.scopes.includes('draft') ?? false;
    const parameters = { limit: usualLimit, offset: 0, ...request.query };
    const { type, tag, q, limit, offset } = parameters;
    const key = JSON.stringify([type, tag, q, limit, offset, drafts]);
    const asked = generation;
    const known = answers.get(key);
    const answer = known ?? (await createAnswer(parameters, drafts));
    // If the library changed while the answer was made, the answer is sent but not cached.
    if (known === undefined && asked === index.generation) answers.set(key, answer, sizeOf(key, answer));
    setValidators(reply, answer.etag).header('x-total-count', answer.total);
    // Many clients and proxies do not accept a longer field.
    if (answer.link.length <= maxLinkLength) reply.header('link', answer.link);
    if (isNotModified(request, answer.etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').serializer(String).send(answer.body);
  };

  async function createAnswer(parameters: PageParameters, drafts: boolean): Promise<ListAnswer> {
    const { type, tag, q, limit, offset } = parameters;
    const filter = withoutUndefined<DocumentFilter>({ type, tag, drafts });
    const page =
      q === undefined
        ? await index.list({ ...filter, limit, offset })
        : await index.search({ ...filter, text: q, limit, offset });
    const items = page.items.map((item) =>
      documentToView('document' in item ? item.document : item, baseUrl),
    );
    const approximate = 'approximate' in page && page.approximate ? { approximate: true } : {};
    const body = JSON.stringify({ items, total: page.total, limit, offset, ...approximate });
    const link = pageLinks(`${baseUrl.href}/api/v1/docs`, parameters, page.total);
    return { body, etag: createEtag(body), total: page.total, link };
  }
}

function sizeOf(key: string, { body, link }: ListAnswer): number {
  return key.length + body.length + link.length;
}

/** The parameters of a page, with the defaults filled in. */
type PageParameters = ListParameters & { readonly limit: number; readonly offset: number };

/** The Link header of a page (RFC 8288): absolute, with every filter kept. */
function pageLinks(address: string, parameters: PageParameters, total: number): string {
  const { limit, offset } = parameters;
  const last = total === 0 ? 0 : Math.floor((total - 1) / limit) * limit;
  const links: [string, number][] = [['first', 0]];
  if (offset > 0) links.push(['prev', Math.max(0, Math.min(offset - limit, last))]);
  if (offset + limit < total) links.push(['next', offset + limit]);
  links.push(['last', last]);
  return links.map(([rel, at]) => `<${pageAddress(address, parameters, at)}>; rel="${rel}"`).join(', ');
}

function pageAddress(address: string, { type, tag, q, limit }: PageParameters, offset: number): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ type, tag, q }))
    if (value !== undefined) search.set(name, value);
  search.set('limit', String(limit));
  search.set('offset', String(offset));
  return `${address}?${search}`;
}
