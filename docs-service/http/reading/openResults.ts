import type { Document } from '../../content/document.ts';
import { withoutLinks } from '../../formats/referencedFiles.ts';
import type { PublicLibrary } from '../../library/publicLibrary.ts';
import type { DocumentIndex, SearchHit } from '../../search/documentIndex.ts';
import { excerptOf } from '../../search/excerpt.ts';
import { type Clause, isEmptyQuery, parseQuery, type Query, withoutExclusions } from '../../search/query.ts';
import { hits } from '../../search/snippet.ts';
import { withoutScripts } from '../../search/withoutScripts.ts';

const byText = { matched: 'text', place: undefined } as const;

interface AskedSearch {
  readonly text: string;
  readonly type?: string;
  /** The slug of a tag. */
  readonly tag?: string;
}

export interface OpenResults {
  /** All that were found. */
  readonly items: readonly SearchHit[];
  /** More may match. */
  readonly approximate: boolean;
}

/** Each is read, so that there are few. */
const maxResults = 60;
/** In UTF-16 units: more of a text is not searched again; with the paths of links, more of it is not looked at. */
const [maxSearched, maxRead] = [300_000, 1_200_000];

/**
 * A search for strangers. The index also finds a document by the paths of its links, and these may name what is not
 * public: by the words that are found, or excluded, a stranger could guess them. So what the index finds is searched
 * once more, without those paths and without comments, which no page shows. Excerpts come from there too.
 */
export async function searchOpen(
  index: DocumentIndex,
  library: PublicLibrary,
  asked: AskedSearch,
): Promise<OpenResults> {
  const query = parseQuery(asked.text);
  if (isEmptyQuery(query)) return { items: [], approximate: false };
  const paths = new Set(library.documents.map(({ path }) => path));
  const { found, isCut } = await candidates(index, library, { ...asked, query });
  const items: SearchHit[] = [];
  for (const hit of found) {
    const document = library.has(hit.document.slug) ? await index.read(hit.document.slug) : undefined;
    if (document === undefined || document.draft) continue;
    const shown = { ...document, body: withoutScripts(document.body).slice(0, maxRead) };
    const text = withoutLinks(shown, (path) => paths.has(path)).slice(0, maxSearched);
    if (isMatch(query, document, text))
      items.push({ ...hit, ...excerptOf({ title: document.title, body: text }, query, byText) });
  }
  return { items, approximate: isCut && items.length === found.length };
}

async function candidates(
  index: DocumentIndex,
  { bySlug, documents }: PublicLibrary,
  { query, text, ...filter }: AskedSearch & { readonly query: Query },
): Promise<{ readonly found: readonly SearchHit[]; readonly isCut: boolean }> {
  if (query.all.length > 0) {
    const { items, total } = await index.search({
      ...filter,
      ...{ text: withoutExclusions(text), drafts: false, slugs: [...bySlug.keys()] },
      ...{ limit: maxResults, offset: 0 },
    });
    return { found: items, isCut: total > items.length };
  }
  const all = documents.filter((one) => isWithin(one, filter));
  return {
    found: all
      .slice(0, maxResults)
      .map((document) => ({ document, snippet: '', section: null, matched: 'text' })),
    isCut: all.length > maxResults,
  };
}

/** Whether a document passes the filters of a list. */
export function isWithin(
  document: Pick<Document, 'type' | 'tags'>,
  { type, tag }: { readonly type?: string | undefined; readonly tag?: string | undefined },
): boolean {
  return (
    (type === undefined || document.type === type) &&
    (tag === undefined || document.tags.some(({ slug }) => slug === tag))
  );
}

function isMatch({ all, none }: Query, { title }: Document, text: string): boolean {
  const has = (clause: Clause) => [title, text].some((one) => !hits(one, [clause]).next().done);
  return all.every(has) && !none.some(has);
}
