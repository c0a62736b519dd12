import { count } from '../../../protocol/base/text.ts';
import type { CollectionDefinition } from '../../content/collectionFile.ts';
import type { DocumentMetadata } from '../../content/document.ts';
import { type Folders, topFolder } from '../../library/folders.ts';
import type { LocatedMetadata } from '../../search/documentIndex.ts';
import { escapeHtml, foundIn, page, pageAround, type Site } from '../pages.ts';
import {
  collectionAddress,
  documentItem,
  feedOf,
  type LibraryPlace,
  libraryAddress,
  pager,
  searchForm,
} from './documentList.ts';
import { folderList } from './folderTree.ts';
import { countText, hitText, markFound, type SearchAnswer } from './foundText.ts';

interface View {
  readonly site: Site;
  readonly filter: { readonly type?: string; readonly tag?: string; readonly path?: string };
  /** Counted from 1. */
  readonly page: number;
  readonly pageSize: number;
  /** The number of documents on all pages. */
  readonly total: number;
}

export interface LibraryView extends View {
  readonly items: readonly LocatedMetadata[];
  readonly collections: readonly CollectionDefinition[];
  readonly folders: Folders;
  /** Whether the page of the content folder is shown, whose heading is that of the whole page. */
  readonly hasStart: boolean;
}

export type ResultsView = View & SearchAnswer;

/**
 * The library: the collections, and all documents, or those of one type or tag, the newest first. The first page shows
 * the page of the content folder, if there is one, between `before` and `after`.
 */
export function libraryPage(view: LibraryView): { readonly before: string; readonly after: string } {
  const { site, items, collections, total, filter, hasStart } = view;
  const root = topFolder(view.folders);
  const isAll = filter.type === undefined && filter.tag === undefined;
  const { before, after } = pageAround({
    site,
    title: 'Library',
    place: 'library',
    isOwners: !site.isOpen,
    feeds: collections
      .filter((one) => one.public)
      .slice(0, maxFeeds)
      .map((one) => feedOf(site, one)),
  });
  const heading = hasStart ? '<h2>All documents</h2>' : '';
  return {
    before: `${before}<div class="shelf"><div>
${hasStart ? '' : `<h1>Library</h1>\n`}${searchForm(site, filter)}`,
    after: `${collections.length === 0 ? '' : bookShelf(site, collections)}${heading}
${isAll && view.page === 1 && root !== undefined ? folderList(site, root) : ''}${filters(view, items)}<p class="count">${count(total, 'document')}${isAll ? '' : ' with this filter'}</p>
${list(items.map((document) => documentItem(document, { site })))}${pages(view, {})}
</div></div>${after}`,
  };
}

/** The results of a search, the best first, with the matching words marked. */
export function resultsPage(view: ResultsView): string {
  const { site, filter, items, text, clauses, total } = view;
  const entries = items.map((hit) =>
    documentItem(hit.document, {
      site,
      title: markFound(hit.document.title, clauses),
      text: hitText(site, hit, clauses),
      narrowed: { q: text, path: filter.path },
    }),
  );
  const documents = items.map(({ document }) => document);
  const hits = `${filters(view, documents, text)}${total === 0 ? advice : list(entries)}${pages(view, { q: text })}`;
  return page({
    site,
    title: `${text.slice(0, 100)} · Search`,
    place: 'library',
    isOwners: !site.isOpen,
    body: `<div class="shelf"><div>
<h1>Search</h1>
${searchForm(site, { ...filter, q: text }, foundIn(countText(view), hits))}</div></div>`,
  });
}

const advice = `<p>A search finds documents that have any of its words, in any of their forms.</p>
<ul>
<li><code>"first steps"</code> finds words next to each other, as they are written.</li>
<li><code>config*</code> finds words that begin with <code>config</code>.</li>
<li><code>-windows</code> leaves out documents with a word.</li>
</ul>
`;

/** Each filter with a link that removes it. */
function filters({ site, filter }: View, items: readonly DocumentMetadata[], q?: string): string {
  const { type, tag, path } = filter;
  const titleOf = (tag: string) =>
    items.flatMap(({ tags }) => tags).find(({ slug }) => slug === tag)?.title ?? tag;
  const chips = [
    ...(path === undefined ? [] : [remover('folder', path, libraryAddress(site, { q, type, tag }))]),
    ...(type === undefined ? [] : [remover('type', type, libraryAddress(site, { q, tag, path }))]),
    ...(tag === undefined ? [] : [remover('tag', titleOf(tag), libraryAddress(site, { q, type, path }))]),
  ];
  return chips.length === 0 ? '' : `<ul class="filters" aria-label="Filters">${chips.join('')}</ul>\n`;
}

function remover(kind: string, text: string, address: string): string {
  return `<li><a class="chip" href="${escapeHtml(address)}"><span class="hidden">Remove the filter </span>${kind}: <bdi>${escapeHtml(text)}</bdi> <span aria-hidden="true">✕</span></a></li>`;
}

function list(items: readonly string[]): string {
  return items.length === 0
    ? '<p>There is nothing here.</p>\n'
    : `<ol class="results">\n${items.join('\n')}\n</ol>\n`;
}

function pages({ site, filter, page, pageSize, total }: View, more: LibraryPlace): string {
  return pager(page, pageSize, total, (to) => libraryAddress(site, { ...filter, ...more, page: to }));
}

/** In the head of a page. */
const maxFeeds = 20;
/** More collections would need a list of their own. */
const maxBooks = 100;

function bookShelf(site: Site, collections: readonly CollectionDefinition[]): string {
  const books = collections.slice(0, maxBooks).map(({ name, title, description, lang }) => {
    const address = collectionAddress(site, name);
    const text = escapeHtml(title);
    const format = (name: string) =>
      `<li><a href="${address}.${name.toLowerCase()}">${name}<span class="hidden"> of ${text}</span></a></li>`;
    const about = description === null ? '' : `<p class="meta" dir="auto">${escapeHtml(description)}</p>`;
    return `<li><a class="title" dir="auto"${lang === null ? '' : ` lang="${escapeHtml(lang)}"`} href="${address}">${text}</a>${about}${site.isOpen ? '' : `<ul class="formats">${format('EPUB')}${format('PDF')}</ul>`}</li>`;
  });
  return `<section class="books" aria-labelledby="page:books"><h2 id="page:books">Collections</h2>
<ul>
${books.join('\n')}
</ul></section>
`;
}
