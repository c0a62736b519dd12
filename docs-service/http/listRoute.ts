import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BaseUrl } from '../base/baseUrl.ts';
import { plainSnippet } from '../formats/markdown/snippetText.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import { type Answer, pageLinks, type SendAnswer } from './answers.ts';
import { seesDrafts } from './authorization.ts';
import { documentToView } from './documentView.ts';
import { toDocumentFilter } from './listFilters.ts';

import { type ListParameters, usualLimit } from './schemas.ts';

interface ListRouteOptions {
  readonly index: DocumentIndex;
  readonly baseUrl: BaseUrl;
  readonly sendAnswer: SendAnswer;
}

/** Answers `GET /api/v1/docs`. */
export function createListRoute({ index, baseUrl, sendAnswer }: ListRouteOptions) {
  return async (request: FastifyRequest<{ Querystring: ListParameters }>, reply: FastifyReply) => {
    const parameters = { limit: usualLimit, offset: 0, ...request.query };
    const { type, tag, path, changed_since: since, q, limit, offset } = parameters;
    const drafts = seesDrafts(request);
    return sendAnswer(request, reply, {
      key: [type, tag, path, since, q, limit, offset, drafts],
      make: () => createAnswer(parameters, drafts),
    });
  };

  async function createAnswer(parameters: PageParameters, drafts: boolean): Promise<Answer> {
    const { q, limit, offset, type, tag, path, changed_since } = parameters;
    const asked = { ...toDocumentFilter(parameters, drafts), limit, offset };
    const { items, total, approximate } =
      q === undefined ? await listed(asked) : await searched({ ...asked, text: q });
    const filters = { type, tag, path, changed_since, q };
    const link = pageLinks({ address: `${baseUrl.href}/api/v1/docs`, filters, limit, offset, total });
    return {
      body: { items, total, limit, offset, ...(approximate ? { approximate } : {}) },
      page: { total, link },
    };
  }

  async function listed(asked: Parameters<DocumentIndex['list']>[0]) {
    const { items, total } = await index.list(asked);
    return { items: items.map((document) => documentToView(document, baseUrl)), total, approximate: false };
  }

  async function searched(asked: Parameters<DocumentIndex['search']>[0]) {
    const { items, total, approximate } = await index.search(asked);
    const views = items.map(({ document, snippet }) =>
      documentToView(document, baseUrl, { snippet: plainSnippet(snippet, document.title), matched: 'text' }),
    );
    return { items: views, total, approximate };
  }
}

/** The parameters of a page, with the defaults filled in. */
type PageParameters = ListParameters & { readonly limit: number; readonly offset: number };
