import { basename, dirname, extname } from 'node:path/posix';
import { cutText } from '../../protocol/base/text.ts';

/**
 * Whether a text may name a document, a tag or a collection in an address: lower-case letters and digits of any script,
 * with single `-`, `_` or `.` between them, at most 100 characters. It never ends like the address of a format
 * (`guide.pdf`), so that no document hides another's PDF.
 */
export function isSlug(text: string): boolean {
  return (
    text.length <= 100 &&
    /^[\p{Ll}\p{Lo}\p{M}\p{N}]+(?:[-_.][\p{Ll}\p{Lo}\p{M}\p{N}]+)*$/u.test(text) &&
    !/\.(pdf|epub|md|html)$/.test(text)
  );
}

/** A slug from any text, such as a title or the name of a file; undefined if nothing of the text can stay. */
export function trySlug(text: string): string | undefined {
  const parts = text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{Ll}\p{Lo}\p{M}\p{N}]+/u);
  const whole = parts.filter(Boolean).join('-');
  const slug = cutText(whole, 100).replace(/-$/, '');
  return isSlug(slug) ? slug : undefined;
}

/** The number in front of a name, as in `02-setup.md`; but a date or a version, such as `7.0-notes`, is none. */
const numbered = /^(\d+)\s*[-_.]+\s*([^-_.\s].*)$/;
const dateOrVersion = /^\d+[-_.]\d+/;

export function nameNumber(path: string): number | undefined {
  const name = basename(path, extname(path));
  const [, number] = dateOrVersion.test(name) ? [] : (numbered.exec(name) ?? []);
  return number === undefined || number.length > 9 ? undefined : Number(number);
}

/** The parts of a path without their numbers. */
export function withoutNumbers(path: string): string {
  return path
    .split('/')
    .map((name) => (dateOrVersion.test(name) ? name : name.replace(numbered, '$2')))
    .join('/');
}

/** A title from the name of a file; the page of a folder has that of the folder, or else the title of the library. */
export function readableName(path: string, libraryTitle?: string): string {
  const isPage = isFolderPage(path);
  const folder = basename(dirname(path));
  if (isPage && folder === '.' && libraryTitle !== undefined) return libraryTitle;
  const written = isPage && folder !== '.' ? folder : basename(path, extname(path));
  const name = withoutNumbers(written.replace(/^\d{4}-\d{2}-\d{2}-(?=.)/, ''));
  const words = name.includes(' ') ? name : name.replace(/[-_]+/g, ' ').trim();
  if (words === '') return written;
  return words === words.toLowerCase() ? words.charAt(0).toUpperCase() + words.slice(1) : words;
}

/**
 * What a file is called in addresses if its front matter does not say: `own` from its name alone; `short` the same, or,
 * if it is the page of a folder, from the name of that folder; `long` with all its folders in front, which few files
 * have in common.
 */
export function pathSlugs(path: string) {
  const names = path.slice(0, path.length - extname(path).length).split('/');
  // The name may have nothing that a slug could have.
  const own = trySlug(names.at(-1) ?? '') ?? 'unnamed';
  const long = joined([...names.slice(0, -1).flatMap((folder) => trySlug(folder) ?? []), own]);
  const short = tryFolderPageRank(path) === undefined ? own : trySlug(names.at(-2) ?? 'readme');
  return { own, short: short ?? long, long };
}

const maxLength = 100;

/** Without the outermost folders if it would be too long. */
function joined(parts: readonly string[]): string {
  const slug = parts.join('-');
  return slug.length <= maxLength ? slug : joined(parts.slice(1));
}

/** The slug with a suffix that makes it unique. */
export function withEnding(slug: string, ending: string): string {
  const start = slug.slice(0, maxLength - ending.length - 1).replace(/[-\p{Surrogate}]+$/u, '');
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

/** Two files may both qualify as the page of their folder. */
function placeOf(path: string): string {
  const rank = tryFolderPageRank(path);
  return rank === undefined ? path : `${dirname(path)}/\0${String.fromCharCode(rank)}`;
}

export const documentEndings = ['.md', '.markdown', '.mdx', '.mdown', '.mkd', '.mkdn', '.qmd'];
const endings = documentEndings.join('|').replaceAll('.', '');
export const documentEnding = new RegExp(`\\.(?:${endings})$`, 'i');
/** That of a document, or of the page that another program makes of it. */
export const pageEnding = new RegExp(`\\.(?:${endings}|html?)$`, 'i');

const names = ['README', 'Readme', 'readme', 'ReadMe', 'index', 'Index', 'INDEX', '_index']
  .flatMap((name) => ['.md', '.markdown', '.MD'].map((ending) => name + ending))
  .concat('index.mdx', 'README.mdx', '_index.mdx', 'index.qmd');

/** Where the page of a folder may be: the first of these files that exists is it. `''` is the content folder. */
export function folderPagePaths(folder: string): readonly string[] {
  return names.map((name) => (folder === '' ? name : `${folder}/${name}`));
}

export function isFolderPage(path: string): boolean {
  return tryFolderPageRank(path) !== undefined;
}

/** The place of a file in that order; undefined if it cannot be the page of its folder. */
function tryFolderPageRank(path: string): number | undefined {
  const folder = dirname(path);
  const rank = names.indexOf(folder === '.' ? path : path.slice(folder.length + 1));
  return rank < 0 ? undefined : rank;
}
