import { count } from '../../../protocol/base/text.ts';
import { chapterTitles } from '../../formats/renderJob.ts';
import { type Folder, type Folders, parentOf } from '../../library/folders.ts';
import type { LibraryCollection } from '../../library/libraryCollections.ts';
import { escapeHtml, page, type Site } from '../pages.ts';
import {
  collectionAddress,
  documentItem,
  feedOf,
  libraryAddress,
  pager,
  searchForm,
} from './documentList.ts';
import { folderCrumbs, folderList, folderTree } from './folderTree.ts';

/**
 * A collection in its order. Its drafts are in no book, so they are left out here too.
 * @param number of the page, from 1
 * @param pageSize more than elsewhere, because it is a list of contents
 */
export function collectionPage(
  site: Site,
  { definition, documents }: LibraryCollection,
  number: number,
  pageSize = 200,
): string {
  const { name, title, description, author } = definition;
  const address = collectionAddress(site, name);
  const start = (number - 1) * pageSize;
  const titles = chapterTitles(documents, site);
  const items = documents.slice(start, start + pageSize).map((document, at) => {
    const label = escapeHtml(titles[start + at] ?? document.title);
    return documentItem(document, { site, collection: name, title: label });
  });
  return page({
    site,
    title,
    hasSearch: true,
    feeds: definition.public ? [feedOf(site, definition)] : [],
    isOwners: !site.isOpen,
    body: `<div class="shelf"><div>
<nav class="path" aria-label="Where this is"><p class="meta"><a href="${site.root}/read">Library</a> › Collection</p></nav>
<h1 dir="auto">${escapeHtml(title)}</h1>
${description === null ? '' : `<p class="lead" dir="auto">${escapeHtml(description)}</p>\n`}<p class="byline">${author === null ? '' : `<bdi>${escapeHtml(author)}</bdi> · `}${count(documents.length, 'document')}</p>
${documents.length === 0 ? '' : formats(site, address)}<ol class="results">
${items.join('\n')}
</ol>
${pager(number, pageSize, documents.length, (to) => `${address}?page=${to}`)}
</div></div>`,
  });
}

/** Strangers get no files, but can follow what is new. */
function formats({ isOpen }: Site, address: string): string {
  const links = isOpen
    ? [`<a href="${address}/feed.atom">Feed</a>`]
    : [`<a href="${address}.epub">EPUB</a>`, `<a href="${address}.pdf">PDF</a>`];
  return `<ul class="formats" aria-label="Formats">${links.map((link) => `<li>${link}</li>`).join('')}</ul>\n`;
}

/**
 * What is directly in a folder: its folders, and its documents by title.
 * @param number of the page, from 1
 */
export function folderPage(
  site: Site,
  folder: Folder,
  folders: Folders,
  number: number,
  pageSize: number,
): string {
  const { name, path, documents } = folder;
  const shown = documents.slice((number - 1) * pageSize, number * pageSize);
  const items = shown.map((document) => documentItem(document, { site }));
  const crumbs = [...folderCrumbs(site, parentOf(path)), `<bdi>${escapeHtml(name)}</bdi>`].join(' › ');
  const addressOf = (to: number) => libraryAddress(site, { path, page: to });
  return page({
    site,
    title: name,
    isOwners: true,
    body: `<div class="with-tree">
${folderTree(site, folders, path)}<div class="shelf"><div>
<nav class="path" aria-label="Where this is"><p class="meta">${crumbs}</p></nav>
<h1 dir="auto">${escapeHtml(name)}</h1>
${searchForm(site, { path })}${folderList(site, folder)}${documents.length === 0 ? '' : `<p class="count">${count(documents.length, 'document')}</p>\n<ol class="results">\n${items.join('\n')}\n</ol>\n`}${pager(number, pageSize, documents.length, addressOf)}
</div></div></div>`,
  });
}
