import { dirname, extname } from 'node:path/posix';
import { tryFolderPageRank } from './folderPage.ts';
import { trySlug } from './slug.ts';

/** What a file is called in addresses if its front matter does not say. */
export interface PathSlugs {
  /** From its name alone. */
  readonly own: string;
  /** The same, or, if it is the page of a folder, from the name of that folder. */
  readonly short: string;
  /** With all its folders in front. Few files have the same one. */
  readonly long: string;
}

/** Undefined if the name of the file has nothing that a slug could have. */
export function tryPathSlugs(path: string): PathSlugs | undefined {
  const names = path.slice(0, path.length - extname(path).length).split('/');
  const own = trySlug(names.at(-1) ?? '');
  if (own === undefined) return undefined;
  const long = joined([...names.slice(0, -1).flatMap((folder) => trySlug(folder) ?? []), own]);
  const short = tryFolderPageRank(path) === undefined ? own : trySlug(names.at(-2) ?? 'readme');
  return { own, short: short ?? long, long };
}

/** A slug has at most this many characters. */
const longest = 100;

/** Without the outermost folders if it would be too long. */
function joined(parts: readonly string[]): string {
  const slug = parts.join('-');
  return slug.length <= longest ? slug : joined(parts.slice(1));
}

/** The slug with something after it that tells it from equal ones. */
export function withEnding(slug: string, ending: string): string {
  const start = slug.slice(0, longest - ending.length - 1).replace(/[-\p{Surrogate}]+$/u, '');
  return `${start}-${ending}`;
}

/** The files nearest to the content folder first, then by path; the page of a folder before its other files. */
export function nearestFirst<File extends { readonly path: string }>(
  files: readonly File[],
): readonly File[] {
  return files
    .map((file) => ({ file, depth: file.path.split('/').length, key: placeOf(file.path) }))
    .sort((one, other) => one.depth - other.depth || (one.key < other.key ? -1 : 1))
    .map(({ file }) => file);
}

/** Two files may both be able to be the page of their folder. */
function placeOf(path: string): string {
  const rank = tryFolderPageRank(path);
  return rank === undefined ? path : `${dirname(path)}/\0${String.fromCharCode(rank)}`;
}
