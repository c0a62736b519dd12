import type { CollectionDefinition } from '../../content/collectionFile.ts';
import type { DocumentMetadata } from '../../content/document.ts';
import { dateElement, htmlLanguage } from '../../formats/markdown/xmlText.ts';
import type { LocatedMetadata } from '../../search/documentIndex.ts';
import { readingPath } from '../documentView.ts';
import { escapeHtml, type FeedLink, foundIn, type Site } from '../pages.ts';

interface ItemOptions {
  readonly site: Site;
  /** As HTML; by default the title of the document. */
  readonly title?: string;
  /** As HTML, instead of the description; empty if there is nothing to show of the text. */
  readonly text?: string;
  /** The search and the folder that the link of a tag preserves. */
  readonly narrowed?: Pick<LibraryPlace, 'q' | 'path'>;
  /** The collection that the reader is in. */
  readonly collection?: string;
}

export function documentItem(document: LocatedMetadata, options: ItemOptions): string {
  const { slug, title, lang, description } = document;
  const name = options.title ?? escapeHtml(title);
  const within = options.collection === undefined ? '' : `?in=${encodeURIComponent(options.collection)}`;
  const about = description === null ? '' : `<p class="about" dir="auto">${escapeHtml(description)}</p>`;
  return `<li><h2><a href="${readingPath(options.site, slug)}${within}" ${htmlLanguage(lang)}>${name}</a></h2>
${meta(document, options.site)}${options.text || about}${chips(document, options)}</li>`;
}

function meta({ draft, date, authors, path }: LocatedMetadata, { isOpen }: Site): string {
  // Documents in different folders often have the same title. Strangers see no folders.
  const place = isOpen ? '' : path.replace(/\.[^.]*$/, '');
  const parts = [
    draft ? '<span class="badge">Draft</span>' : '',
    place.includes('/') ? `<bdi class="foreign">${escapeHtml(place)}</bdi>` : '',
    date === null ? '' : dateElement(date),
    ...authors.slice(0, 3).map((author) => `<bdi>${escapeHtml(author)}</bdi>`),
    authors.length > 3 ? 'and others' : '',
  ].filter(Boolean);
  return parts.length === 0 ? '' : `<p class="meta">${parts.join(' · ')}</p>`;
}

function chips({ type, tags }: DocumentMetadata, { site, narrowed }: ItemOptions): string {
  const all = [
    ...(type === null ? [] : [{ address: libraryAddress(site, { ...narrowed, type }), text: type }]),
    ...tags.map(({ slug, title }) => ({
      address: libraryAddress(site, { ...narrowed, tag: slug }),
      text: title,
    })),
  ];
  if (all.length === 0) return '';
  const items = all.map(
    ({ address, text }) =>
      `<li><a class="chip" href="${escapeHtml(address)}"><bdi>${escapeHtml(text)}</bdi></a></li>`,
  );
  return `<ul class="chips" aria-label="Type and tags">${items.join('')}</ul>`;
}

/** Links to the pages before and after one, counted from 1; empty if there is only one page. */
export function pager(
  page: number,
  pageSize: number,
  total: number,
  addressOf: (page: number) => string,
): string {
  const last = Math.max(1, Math.ceil(total / pageSize));
  if (last === 1 && page === 1) return '';
  const link = (to: number, rel: string, text: string) =>
    `<a class="button" rel="${rel}" href="${escapeHtml(addressOf(to))}">${text}</a>`;
  const before = page > 1 ? link(Math.min(page - 1, last), 'prev', '← Previous') : '<span></span>';
  const after = page < last ? link(page + 1, 'next', 'Next →') : '<span></span>';
  const place = page <= last ? `<span class="meta">Page ${page} of ${last}</span>` : '';
  return `<nav class="pager" aria-label="Pages">${before}${place}${after}</nav>`;
}

export interface LibraryPlace {
  readonly q?: string | undefined;
  readonly type?: string | undefined;
  /** The slug of a tag. */
  readonly tag?: string | undefined;
  /** A folder, with a final slash. */
  readonly path?: string | undefined;
  /** Counted from 1. */
  readonly page?: number | undefined;
}

export function collectionAddress({ root }: Pick<Site, 'root'>, name: string): string {
  return `${root}/read/collections/${encodeURIComponent(name)}`;
}

export function feedOf(site: Pick<Site, 'root'>, { name, title }: CollectionDefinition): FeedLink {
  return { title, address: `${collectionAddress(site, name)}/feed.atom` };
}

export function libraryAddress({ root }: Site, { page, ...place }: LibraryPlace): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(place)) if (value) search.set(name, value);
  if (page !== undefined && page > 1) search.set('page', String(page));
  return search.size === 0 ? `${root}/read` : `${root}/read?${search}`;
}

/** The box for a search on a page of the library, with what the page is narrowed to, and what was found. */
export function searchForm({ root }: Site, place: LibraryPlace, found = foundIn('', '')): string {
  const { q = '', type, tag, path } = place;
  const kept = Object.entries({ path, type, tag }).flatMap(([name, value]) =>
    value === undefined ? [] : [`<input type="hidden" name="${name}" value="${escapeHtml(value)}">`],
  );
  const label = path === undefined ? 'Search the library' : `Search in ${escapeHtml(path)}`;
  return `<form class="search" role="search" action="${root}/read"><div>
<label class="hidden" for="page:q">${label}</label>
<input id="page:q" type="search" name="q" value="${escapeHtml(q)}" placeholder="${label}" maxlength="1000" autocomplete="off">${kept.join('')}
</div><button class="main">Search</button></form>
${found}
`;
}
