import { count } from '../../../protocol/base/text.ts';
import { type Folder, type Folders, parentOf } from '../../library/folders.ts';
import { escapeHtml, page, type Site } from '../pages.ts';
import { documentItem, libraryAddress, pager, searchForm } from './documentList.ts';
import { folderCrumbs, folderList, folderTree } from './folderTree.ts';

interface FolderView {
  readonly site: Site;
  readonly folder: Folder;
  readonly folders: Folders;
  /** Counted from 1. */
  readonly page: number;
  readonly pageSize: number;
}

/** What is directly in a folder: its folders, and its documents by title. */
export function folderPage({ site, folder, folders, page: number, pageSize }: FolderView): string {
  const { path, documents } = folder;
  const { name } = folder;
  const shown = documents.slice((number - 1) * pageSize, number * pageSize);
  const items = shown.map((document) => documentItem(document, { site }));
  const crumbs = [...folderCrumbs(site, parentOf(path)), `<bdi>${escapeHtml(name)}</bdi>`].join(' › ');
  const addressOf = (to: number) => libraryAddress(site, { path, page: to });
  return page({
    site,
    title: name,
    isOwners: true,
    body: `<div class="with-tree">
${folderTree({ site, folders, folder: path })}<div class="shelf"><div>
<nav class="path" aria-label="Where this is"><p class="meta">${crumbs}</p></nav>
<h1 dir="auto">${escapeHtml(name)}</h1>
${searchForm(site, { path })}${folderList(site, folder)}${documents.length === 0 ? '' : `<p class="count">${count(documents.length, 'document')}</p>\n<ol class="results">\n${items.join('\n')}\n</ol>\n`}${pager({ page: number, pageSize, total: documents.length, addressOf })}
</div></div></div>`,
  });
}
