import type { FastifyReply, FastifyRequest } from 'fastify';
import { LruCache } from '../base/lruCache.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import { createEtag, sendText } from './conditional.ts';

/** What a route answers with: JSON that depends on nothing but the index and the key. */
export interface LibraryAnswer {
  readonly body: object;
  /** Of a list: the number of items on all pages, and the links to other pages. */
  readonly page?: { readonly total: number; readonly link: string };
  /** The search could not be as it was asked for. The answer is not cached. */
  readonly searchMode?: string;
}

interface ReadyAnswer extends Pick<LibraryAnswer, 'page' | 'searchMode'> {
  readonly text: string;
  readonly etag: string;
}

/** In characters of all cached answers. */
const cacheSize = 16_000_000;
/** In characters. Many clients and proxies do not accept a longer field. */
const maxLinkLength = 4_096;

interface AnswerSource {
  /** The parameters, with their defaults, and whatever else the answer depends on. */
  readonly key: readonly unknown[];
  readonly make: () => Promise<LibraryAnswer>;
}

export type SendAnswer = ReturnType<typeof createAnswers>;

/** Sends answers that are cached until something in the library changes. */
export function createAnswers(index: Pick<DocumentIndex, 'generation'>) {
  const answers = new LruCache<ReadyAnswer>(cacheSize);
  let generation = index.generation;
  return async (request: FastifyRequest, reply: FastifyReply, { key, make }: AnswerSource) => {
    if (generation !== index.generation) {
      answers.clear();
      generation = index.generation;
    }
    const name = JSON.stringify([request.routeOptions.url, ...key]);
    const asked = generation;
    const known = answers.get(name);
    const answer = known ?? readyAnswer(await make());
    // If the library changed while the answer was made, the answer is sent but not cached.
    if (known === undefined && asked === index.generation && answer.searchMode === undefined)
      answers.set(name, answer, name.length + answer.text.length + (answer.page?.link.length ?? 0));
    if (answer.page !== undefined) {
      reply.header('x-total-count', answer.page.total);
      if (answer.page.link.length <= maxLinkLength) reply.header('link', answer.page.link);
    }
    if (answer.searchMode !== undefined) reply.header('search-mode', answer.searchMode);
    return sendText(request, reply, { ...answer, mediaType: 'application/json' });
  };
}

function readyAnswer({ body, ...rest }: LibraryAnswer): ReadyAnswer {
  const text = JSON.stringify(body);
  return { text, etag: createEtag(text), ...rest };
}

interface PageOptions {
  /** Of the list, absolute. */
  readonly address: string;
  /** What else the list is asked for. */
  readonly filters: Readonly<Record<string, string | undefined>>;
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
}

/** The Link header of a page (RFC 8288): absolute, with every filter kept. */
export function pageLinks({ address, filters, limit, offset, total }: PageOptions): string {
  const search = new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  search.set('limit', String(limit));
  const last = total === 0 ? 0 : Math.floor((total - 1) / limit) * limit;
  const links: [string, number][] = [['first', 0]];
  if (offset > 0) links.push(['prev', Math.max(0, Math.min(offset - limit, last))]);
  if (offset + limit < total) links.push(['next', offset + limit]);
  links.push(['last', last]);
  const linkTo = ([rel, at]: [string, number]) => {
    search.set('offset', String(at));
    return `<${address}?${search}>; rel="${rel}"`;
  };
  return links.map(linkTo).join(', ');
}
