import { dirname } from 'node:path/posix';

const names = ['README', 'Readme', 'readme', 'ReadMe', 'index', 'Index', 'INDEX'].flatMap((name) =>
  ['.md', '.markdown', '.MD'].map((ending) => name + ending),
);

/** Where the page of a folder may be: the first of these files that exists is it. `''` is the content folder. */
export function folderPagePaths(folder: string): readonly string[] {
  return names.map((name) => (folder === '' ? name : `${folder}/${name}`));
}

/** The place of a file in that order; undefined if it cannot be the page of its folder. */
export function tryFolderPageRank(path: string): number | undefined {
  const folder = dirname(path);
  const rank = names.indexOf(folder === '.' ? path : path.slice(folder.length + 1));
  return rank < 0 ? undefined : rank;
}
