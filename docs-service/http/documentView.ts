import type { Static } from 'typebox';
import type { BaseUrl } from '../base/baseUrl.ts';
import type { LinkingFormat } from '../formats/renditions.ts';
import type { LocatedMetadata } from '../search/documentIndex.ts';
import type { Site } from './pages.ts';
import type { collectionSchema, documentSchema } from './schemas.ts';

export type DocumentView = Static<typeof documentSchema>;
export type CollectionView = Static<typeof collectionSchema>;

type HitFields = Pick<DocumentView, 'snippet' | 'matched' | 'missing'>;

const notSearched: HitFields = { snippet: null, matched: null };

/** A document as REST returns it, with absolute addresses. */
export function documentToView(
  document: LocatedMetadata,
  { href }: BaseUrl,
  found: HitFields = notSearched,
): DocumentView {
  const { slug, path, title, draft, type, tags, date, updated, lang, authors, description, contentHash } =
    document;
  const { label = null, order = null, hidden = false, aliases = [] } = document;
  const self = documentAddress(href, slug);
  return {
    slug,
    path,
    title,
    type,
    tags: tags.map((tag) => ({ slug: tag.slug, title: tag.title })),
    date,
    updated,
    lang,
    authors: [...authors],
    description,
    draft,
    label: label === title ? null : label,
    order,
    hidden,
    aliases: [...aliases],
    contentHash,
    ...found,
    links: { self, pdf: `${self}.pdf`, markdown: `${self}.md` },
  };
}

/** Its page for a browser, for a link on a page of the same service. */
export function readingPath({ root }: Pick<Site, 'root'>, slug: string): string {
  return `${root}/read/${encodeURIComponent(slug)}`;
}

/** Where a link to another document leads: for people to a page, for a program to the same format. */
export function linkAddress({ href, path }: BaseUrl, slug: string, format: LinkingFormat): string {
  switch (format) {
    case 'html':
      return `${documentAddress(href, slug)}.html`;
    case 'pdf':
      return readingPath({ root: href }, slug);
    case 'markdown':
      return `${documentAddress(href, slug)}.md`;
    case 'article':
      return readingPath({ root: path }, slug);
  }
}

/** Where a program gets a picture that a document shows. */
export function pictureAddress({ href }: BaseUrl, slug: string, path: string): string {
  return `${documentAddress(href, slug)}/files/${path.split('/').map(encodeURIComponent).join('/')}`;
}

export function documentAddress(href: string, slug: string): string {
  return `${href}/api/v1/docs/${encodeURIComponent(slug)}`;
}
