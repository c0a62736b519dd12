import type { Document, DocumentMetadata } from '../../content/document.ts';
import { chapterTitles } from '../../formats/renderJob.ts';
import { type Folders, neighboursInTree, parentOf } from '../../library/folders.ts';
import type { LibraryCollection } from '../../library/libraryCollections.ts';
import { readingPath } from '../documentView.ts';
import { escapeHtml, pageAround, type Site } from '../pages.ts';
import { collectionAddress, feedOf } from './documentList.ts';
import { folderCrumbs, folderTree } from './folderTree.ts';

/** Where a reader is in a collection. */
export type AdjacentPages = NonNullable<ReturnType<typeof neighboursIn>>;

/** The documents before and after, if the document is in the collection. */
export function neighboursIn({ definition, documents }: LibraryCollection, slug: string, site: Site) {
  const at = documents.findIndex((one) => one.slug === slug);
  if (at < 0) return undefined;
  const near = documents.slice(Math.max(0, at - 1), at + 2);
  const titles = chapterTitles(near, site);
  const named = (one: DocumentMetadata | undefined) =>
    one && { ...one, title: titles[near.findIndex(({ slug }) => slug === one.slug)] ?? one.title };
  return {
    definition,
    /** The position of the document in the collection, from 1. */
    place: at + 1,
    size: documents.length,
    previous: named(documents[at - 1]),
    next: named(documents[at + 1]),
  };
}

/** The HTML before and after the `<article>` of a document. */
export function documentPage(
  site: Site,
  document: Document,
  folders: Folders,
  around: AdjacentPages | undefined,
  canonical?: string,
) {
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
  const place = around === undefined ? folderCrumbs(site, folder) : collectionSteps(site, around);
  const tree = folderTree(site, folders, folder, document.slug);
  // Nor an order but that of a collection.
  const treeSteps = site.isOpen ? [] : neighboursInTree(folders, document.slug);
  const next = around ? neighbours(site, around) : steps(site, treeSteps, 'Before and after');
  const crumbs = `<nav class="path" aria-label="Where this is"><p class="meta">${place.join(' › ')}</p></nav>`;
  return {
    before: `${before}<div class="with-tree">\n${tree}<div class="reader">\n${crumbs}\n`,
    after: `${editLink(site, document)}${next}</div></div>${after}`,
  };
}

function editLink({ editAddress }: Site, { path }: Document): string {
  if (editAddress === undefined) return '';
  const address = editAddress.replaceAll('{path}', path.split('/').map(encodeURIComponent).join('/'));
  return `<p class="meta whole"><a href="${escapeHtml(address)}">Edit this page</a></p>\n`;
}

function collectionSteps(site: Site, { definition, place, size }: AdjacentPages): readonly string[] {
  const address = collectionAddress(site, definition.name);
  return [
    ...folderCrumbs(site, ''),
    `<a href="${address}"><bdi>${escapeHtml(definition.title)}</bdi></a>`,
    `${place} of ${size}`,
  ];
}

function steps(
  site: Site,
  [previous, next]: readonly (DocumentMetadata | undefined)[],
  label: string,
  collection?: string,
): string {
  const links = stepTo(site, previous, 'prev', collection) + stepTo(site, next, 'next', collection);
  return links === '' ? '' : `<nav class="around" aria-label="${label}">${links}</nav>\n`;
}

function stepTo(
  site: Site,
  document: DocumentMetadata | undefined,
  rel: 'prev' | 'next',
  collection?: string,
): string {
  if (document === undefined) return '';
  const inside = collection === undefined ? '' : `?in=${encodeURIComponent(collection)}`;
  const text = rel === 'prev' ? '← Previous' : 'Next →';
  const name = escapeHtml((collection === undefined && document.label) || document.title);
  return `<a class="${rel}" rel="${rel}" href="${readingPath(site, document.slug)}${inside}"><span>${text}</span><bdi>${name}</bdi></a>`;
}

function neighbours(site: Site, { definition, previous, next }: AdjacentPages): string {
  const around = steps(site, [previous, next], 'Within the collection', definition.name);
  if (site.isOpen) return around;
  const address = collectionAddress(site, definition.name);
  const title = `<bdi>${escapeHtml(definition.title)}</bdi>`;
  return `${around}<p class="meta whole">All of ${title} as <a href="${address}.epub">EPUB</a> or <a href="${address}.pdf">PDF</a></p>\n`;
}
