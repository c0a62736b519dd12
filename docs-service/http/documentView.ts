import type { Static } from 'typebox';
import type { BaseUrl } from '../base/baseUrl.ts';
import type { DocumentMetadata } from '../content/document.ts';
import type { LinkingFormat } from '../formats/renditions.ts';
import type { Site } from './pages.ts';
import type { documentSchema } from './schemas.ts';

export type DocumentView = Static<typeof documentSchema>;

/** A document as REST returns it, with absolute addresses. */
export function documentToView(document: DocumentMetadata, { href }: BaseUrl): DocumentView {
  const { slug, title, type, tags, date, updated, lang, authors, description, contentHash } = document;
  const self = documentAddress(href, slug);
  return {
    slug,
    title,
    type,
    tags: tags.map((tag) => ({ slug: tag.slug, title: tag.title })),
    date,
    updated,
    lang,
    authors: [...authors],
    description,
    contentHash,
    links: { self, pdf: `${self}.pdf`, markdown: `${self}.md` },
  };
}

/** Its page for a browser, for a link on a page of the same service. */
export function readingPath({ root }: Site, slug: string): string {
  return `${root}/read/${encodeURIComponent(slug)}`;
}

/** Where a link to another document leads: for people to a page, for a program to the same format. */
export function linkAddress({ href, path }: BaseUrl, slug: string, format: LinkingFormat): string {
  switch (format) {
    case 'html':
      return `${documentAddress(href, slug)}.html`;
    case 'pdf':
      return readingPath({ root: href }, slug);
    case 'article':
      return readingPath({ root: path }, slug);
  }
}

function documentAddress(href: string, slug: string): string {
  return `${href}/api/v1/docs/${encodeURIComponent(slug)}`;
}
