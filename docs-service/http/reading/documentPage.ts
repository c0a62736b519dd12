import type { CollectionDefinition } from '../../content/collectionFile.ts';
import type { Document, DocumentMetadata } from '../../content/document.ts';
import { chapterTitles } from '../../formats/chapterTitles.ts';
import type { LibraryCollection } from '../../library/libraryCollections.ts';
import { readingPath } from '../documentView.ts';
import { escapeHtml, pageAround, type Site } from '../pages.ts';
import { collectionAddress, feedOf } from './documentList.ts';
import { type Folders, parentOf } from './folders.ts';
import { folderCrumbs, folderTree } from './folderTree.ts';

/** The collection that a reader came from. */
export interface Neighbours {
  readonly definition: CollectionDefinition;
  /** The position of the document in the collection, from 1. */
  readonly place: number;
  readonly size: number;
  readonly previous: DocumentMetadata | undefined;
  readonly next: DocumentMetadata | undefined;
}

/** The documents before and after, if the document is in the collection. */
export function neighboursIn(
  { definition, documents }: LibraryCollection,
  slug: string,
  site: Site,
): Neighbours | undefined {
  const at = documents.findIndex((one) => one.slug === slug);
  if (at < 0) return undefined;
  const near = documents.slice(Math.max(0, at - 1), at + 2);
  const titles = chapterTitles(near, site);
  const named = (one: DocumentMetadata | undefined) =>
    one && { ...one, title: titles[near.findIndex(({ slug }) => slug === one.slug)] ?? one.title };
  return {
    definition,
    place: at + 1,
    size: documents.length,
    previous: named(documents[at - 1]),
    next: named(documents[at + 1]),
  };
}

interface DocumentView {
  readonly site: Site;
  readonly document: Document;
  readonly folders: Folders;
  readonly around: Neighbours | undefined;
  readonly canonical?: string | undefined;
}

/** The HTML before and after the `<article>` of a document. */
export function documentPage({ site, document, folders, around, canonical }: DocumentView): {
  readonly before: string;
  readonly after: string;
} {
  const { before, after } = pageAround({
    site,
    title: document.title,
    hasSearch: true,
    isOwners: !site.isOpen,
    canonical,
    feeds: around?.definition.public ? [feedOf(site, around.definition)] : [],
  });
  // Strangers see no folders.
  const folder = site.isOpen ? '' : parentOf(document.path);
  const steps = around === undefined ? folderCrumbs(site, folder) : collectionSteps(site, around);
  const tree = folderTree({ site, folders, folder, slug: document.slug });
  const crumbs = `<nav class="path" aria-label="Where this is"><p class="meta">${steps.join(' › ')}</p></nav>`;
  return {
    before: `${before}<div class="with-tree">\n${tree}<div class="reader">\n${crumbs}\n`,
    after: `${around === undefined ? '' : neighbours(site, around)}</div></div>${after}`,
  };
}

function collectionSteps(site: Site, { definition, place, size }: Neighbours): readonly string[] {
  const address = collectionAddress(site, definition.name);
  return [
    ...folderCrumbs(site, ''),
    `<a href="${address}"><bdi>${escapeHtml(definition.title)}</bdi></a>`,
    `${place} of ${size}`,
  ];
}

function neighbours(site: Site, { definition, previous, next }: Neighbours): string {
  const link = (document: DocumentMetadata | undefined, rel: 'prev' | 'next', text: string) =>
    document === undefined
      ? ''
      : `<a class="${rel}" rel="${rel}" href="${readingPath(site, document.slug)}?in=${encodeURIComponent(definition.name)}"><span>${text}</span><bdi>${escapeHtml(document.title)}</bdi></a>`;
  const links = `${link(previous, 'prev', '← Previous')}${link(next, 'next', 'Next →')}`;
  const steps = links === '' ? '' : `<nav class="around" aria-label="Within the collection">${links}</nav>\n`;
  if (site.isOpen) return steps;
  const address = collectionAddress(site, definition.name);
  const title = `<bdi>${escapeHtml(definition.title)}</bdi>`;
  return `${steps}<p class="meta whole">All of ${title} as <a href="${address}.epub">EPUB</a> or <a href="${address}.pdf">PDF</a></p>\n`;
}
