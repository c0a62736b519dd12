import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BaseUrl } from '../base/baseUrl.ts';
import { plainSnippet } from '../formats/markdown/snippetText.ts';
import { folderAt, inTreeOrder, readFolders } from '../library/folders.ts';
import { readAllDocuments } from '../library/wholeIndex.ts';
import { fieldsOf, type LibrarySearch } from '../meaning/librarySearch.ts';
import type { DocumentIndex, DocumentPage, ListQuery } from '../search/documentIndex.ts';
import { isOfKind } from '../search/documentRecord.ts';
import { type LibraryAnswer, pageLinks } from './answers.ts';
import { seesDrafts } from './authorization.ts';
import { documentToView } from './documentView.ts';
import { toDocumentFilter } from './listFilters.ts';
import { HttpProblem } from './problems.ts';
import { type ListParameters, usualLimit } from './schemas.ts';
import type { Services } from './services.ts';

/** Answers `GET /api/v1/docs`. */
export async function sendList(
  services: Services,
  request: FastifyRequest<{ Querystring: ListParameters }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const parameters = { limit: usualLimit, offset: 0, ...request.query };
  const { type, tag, path, changed_since: since, q, mode, order, limit, offset } = parameters;
  if (order !== undefined && q !== undefined) throw new HttpProblem(400, twoOrders);
  if (mode === 'meaning' && !services.search.hasMeaning) throw new HttpProblem(400, noMeaning);
  const drafts = seesDrafts(request);
  return services.sendAnswer(request, reply, {
    key: [type, tag, path, since, q, mode, order, limit, offset, drafts],
    make: () => createAnswer(services, parameters, drafts),
  });
}

async function createAnswer(
  { index, search, baseUrl }: Services,
  parameters: ListParameters & { readonly limit: number; readonly offset: number },
  drafts: boolean,
): Promise<LibraryAnswer> {
  const { q, mode, order, limit, offset, type, tag, path, changed_since } = parameters;
  const asked = { ...toDocumentFilter(parameters, drafts), limit, offset };
  const find = async (filter: typeof asked) => {
    if (q !== undefined) return searched(await search.search({ ...filter, text: q }, mode), baseUrl);
    const { items, total } = await (order === 'tree' ? listedInTree(index, filter) : index.list(filter));
    const views = items.map((document) => documentToView(document, baseUrl));
    return { items: views, total, searchMode: undefined };
  };
  const first = await find(asked);
  const other =
    first.total === 0 && path !== undefined ? folderAt(await readFolders(index), path)?.path : asked.folder;
  const isOther = other !== undefined && other !== asked.folder;
  const { items, total, searchMode, ...found } = isOther ? await find({ ...asked, folder: other }) : first;
  const filters = { type, tag, path, changed_since, q, mode, order };
  const link = pageLinks(`${baseUrl.href}/api/v1/docs`, filters, { limit, offset, total });
  return {
    body: { items, total, limit, offset, ...found },
    page: { total, link },
    ...(searchMode === undefined ? {} : { searchMode }),
  };
}

function searched(found: Awaited<ReturnType<LibrarySearch['search']>>, baseUrl: BaseUrl) {
  const views = found.items.map(({ document, snippet, matched, missing }) =>
    documentToView(document, baseUrl, {
      ...{ snippet: plainSnippet(snippet, document.title), matched },
      ...(missing.length > 0 ? { missing: [...missing] } : {}),
    }),
  );
  return { items: views, ...fieldsOf(found), searchMode: found.isTextAlone ? 'text' : undefined };
}

async function listedInTree(
  index: DocumentIndex,
  { folder = '', changedSince, drafts, limit, offset, ...filter }: ListQuery,
): Promise<DocumentPage> {
  const found = (await readAllDocuments(index)).filter(
    (one) => one.path.startsWith(folder) && (drafts || !one.draft) && isOfKind(one, filter),
  );
  const changed =
    changedSince === undefined ? undefined : await index.changedAt(found.map(({ slug }) => slug));
  const isNew = ({ slug }: { readonly slug: string }) => (changed?.get(slug) ?? 0) >= (changedSince ?? 0);
  const items = inTreeOrder(await readFolders(index), found.filter(isNew));
  return { items: items.slice(offset, offset + limit), total: items.length };
}

const twoOrders = 'A search has an order of its own. Leave "order" or "q" out.';

const noMeaning =
  'This service does not embed documents, so it cannot search by meaning. Leave "mode" out, or set it to "text".';
