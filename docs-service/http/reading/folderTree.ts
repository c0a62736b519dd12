import { basename, extname } from 'node:path/posix';
import { type Folder, type Folders, folderName, folderSteps, topFolder } from '../../library/folders.ts';
import type { LocatedMetadata } from '../../search/documentIndex.ts';
import { readingPath } from '../documentView.ts';
import { escapeHtml, type Site } from '../pages.ts';
import { libraryAddress } from './documentList.ts';

/** At most this many folders, and as many documents, of each folder. */
const maxEntries = 200;

/**
 * The folders around a page, for its side: what is in the folder of the page, and in each folder above it. The other
 * folders are links, so a large library makes no large page. Empty if there is nothing to choose.
 * @param folder that the reader is in
 * @param slug of the document that the reader is in
 */
export function folderTree(site: Site, folders: Folders, folder: string, slug?: string): string {
  const root = topFolder(folders);
  if (root === undefined || root.documents.length + root.folders.length < 2) return '';
  const open = new Set(folderSteps(folder));
  const level = ({ path, ...inside }: Folder): string => {
    const shownFolders = new Set(shownOf(inside.folders, (one) => open.has(one)));
    const documents = shownOf(inside.documents, (one) => one.slug === slug);
    const byPath = new Map(documents.map((one) => [one.path, one]));
    const items = inside.entries.flatMap((entry) => {
      const document = byPath.get(entry);
      if (document !== undefined) {
        const address = readingPath(site, document.slug);
        return `<li>${link(address, nameOf(document, documents), document.slug === slug)}</li>`;
      }
      if (!shownFolders.has(entry)) return [];
      const inner = open.has(entry) ? folders.get(entry) : undefined;
      const isHere = slug === undefined && entry === folder;
      const name = folders.get(entry)?.name ?? folderName(entry);
      return `<li class="folder">${link(libraryAddress(site, { path: entry }), name, isHere)}${inner === undefined ? '' : level(inner)}</li>`;
    });
    const left = inside.entries.length - items.length;
    const more =
      left === 0 ? '' : `<li>${link(libraryAddress(site, { path }), `${left} more …`, false)}</li>`;
    return `<ul>${items.join('')}${more}</ul>`;
  };
  return `<nav class="tree" aria-label="Folders" tabindex="0"><details><summary>Documents</summary>
${level(root)}
</details></nav>
`;
}

/** The first entries, with the one that the reader is in. */
function shownOf<Entry>(entries: readonly Entry[], isOpen: (entry: Entry) => boolean): readonly Entry[] {
  return entries.filter((entry, at) => at < maxEntries || isOpen(entry));
}

/** Its label or title; or the name of its file, if another document of the folder has the same title. */
function nameOf(
  { label, title, path, slug }: LocatedMetadata,
  documents: readonly LocatedMetadata[],
): string {
  if (label !== undefined) return label;
  const isShared = documents.some((one) => one.title === title && one.slug !== slug);
  return isShared ? basename(path, extname(path)) : title;
}

function link(address: string, text: string, isHere: boolean): string {
  const here = isHere ? ' aria-current="page"' : '';
  return `<a href="${escapeHtml(address)}"${here}><bdi>${escapeHtml(text)}</bdi></a>`;
}

/** Where a page is: the library, and the folders down to its own. */
export function folderCrumbs(site: Site, folder: string): readonly string[] {
  return [
    `<a href="${site.root}/read">Library</a>`,
    ...folderSteps(folder).map((path) => link(libraryAddress(site, { path }), folderName(path), false)),
  ];
}

/** The folders that are directly in a folder, as the way into them; empty if there are none. */
export function folderList(site: Site, { folders }: Folder): string {
  const items = folders.map(
    (path) => `<li>${link(libraryAddress(site, { path }), `${folderName(path)}/`, false)}</li>`,
  );
  return items.length === 0 ? '' : `<ul class="folders" aria-label="Folders">${items.join('')}</ul>\n`;
}
