import type { Static } from 'typebox';
import type { DocumentMetadata } from '../content/document.ts';
import type { LinkingFormat } from '../formats/renditions.ts';
import type { documentSchema } from './schemas.ts';

export type DocumentView = Static<typeof documentSchema>;

/** A document as REST returns it, with absolute addresses. */
export function documentToView(document: DocumentMetadata, origin: string): DocumentView {
  const { slug, title, type, tags, date, updated, lang, authors, description, contentHash } = document;
  const self = documentAddress(origin, slug);
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

/** Its reading page for a browser, from the root of the service. */
export function readingPath(slug: string): string {
  return `/read/${encodeURIComponent(slug)}`;
}

/** Where a link to another document leads: for people to a page, for a program to the same format. */
export function linkAddress(origin: string, slug: string, format: LinkingFormat): string {
  switch (format) {
    case 'html':
      return `${documentAddress(origin, slug)}.html`;
    case 'pdf':
      return `${origin}${readingPath(slug)}`;
    case 'article':
      return readingPath(slug);
  }
}

function documentAddress(origin: string, slug: string): string {
  return `${origin}/api/v1/docs/${encodeURIComponent(slug)}`;
}
