import type { CollectionDefinition } from '../../docs-service/content/collectionFile.ts';
import type { Document } from '../../docs-service/content/document.ts';
import type { EpubJob } from '../../docs-service/formats/renderJob.ts';

/** A document of a library, made of its text. */
export function documentOf(slug: string, body: string, more: Partial<Document> = {}): Document {
  return {
    slug,
    title: slug,
    type: null,
    tags: [],
    date: '2026-11-20',
    updated: null,
    lang: null,
    authors: [],
    description: null,
    cover: null,
    draft: false,
    contentHash: '0'.repeat(64),
    path: `${slug}.md`,
    body,
    ...more,
  };
}

export function epubJob(
  contentFolder: string,
  documents: readonly Document[],
  collection: Partial<CollectionDefinition> = {},
): EpubJob {
  return {
    kind: 'epub',
    contentFolder,
    targets: {},
    documents,
    collection: {
      name: 'book',
      title: 'A Book',
      docs: documents.map(({ slug }) => slug),
      order: 'listed',
      author: null,
      lang: null,
      cover: null,
      description: null,
      ...collection,
    },
  };
}
