import type { Static } from 'typebox';
import type { DocumentMetadata } from '../content/document.ts';
import type { documentSchema } from './schemas.ts';

export type DocumentView = Static<typeof documentSchema>;

/** A document as REST shows it. The addresses are absolute. */
export function documentToView(document: DocumentMetadata, origin: string): DocumentView {
  const { slug, title, type, tags, date, updated, lang, authors, description, contentHash } = document;
  const self = documentAddress(origin, slug);
  return {
    ...{ slug, title, type },
    tags: tags.map((tag) => ({ slug: tag.slug, title: tag.title })),
    ...{ date, updated, lang, authors: [...authors], description, contentHash },
    links: { self, pdf: `${self}.pdf`, markdown: `${self}.md` },
  };
}

export function documentAddress(origin: string, slug: string): string {
  return `${origin}/api/v1/docs/${encodeURIComponent(slug)}`;
}
