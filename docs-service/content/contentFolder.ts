import { createHash } from 'node:crypto';
import { type Dirent, lstatSync, type Stats, statSync } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { tryNow } from '../../protocol/base/text.ts';
import {
  type ContentPlace,
  type ContentPlaces,
  isInside,
  placeOf,
  readPlace,
  readPlaceNow,
} from './contentPlaces.ts';
import type { ContentProblem } from './document.ts';
import type { LinkRoots } from './links.ts';
import { createServedFiles, type OmissionReason, type ServedFiles } from './servedFiles.ts';
import { documentEnding } from './slug.ts';

/** A file in the folder. The path is relative to the content folder, with `/` between its parts. */
export interface ContentFile {
  readonly path: string;
  readonly size: number;
  /** When it was written, in milliseconds since 1970. */
  readonly modified: number;
  /** When it was written, moved or given another time; the later of both times. */
  readonly changed: number;
  readonly look: string;
}

/**
 * Another one for each version of a file, without reading it: from its size, its times and its inode. Empty if they say
 * nothing, because builders of packages and images give one time to all files: zero, one second, or the first that a
 * zip file can have. No file was written then.
 */
export function lookOf({ size, mtimeMs, ctimeMs, ino }: Stats): string {
  if (Math.max(mtimeMs, ctimeMs) < firstTime) return '';
  const look = createHash('sha256').update([size, mtimeMs, ctimeMs, ino].join(' '));
  return look.digest('base64url').slice(0, 8);
}

/** File systems count time in steps of up to so many ms: what is younger may change again and look the same. */
export const coarsest = 2_000;

const firstTime = Date.UTC(1980, 0, 2);

export interface ContentListing {
  /** The folder has no entries at all, not even files that are no content. */
  readonly isEmpty: boolean;
  readonly files: readonly ContentFile[];
  /** The names of all other files, of links, and of what is left out. */
  readonly others: readonly string[];
  /** The files of Markdown and the folders that are not read as documents. */
  readonly leftOut: readonly (readonly [name: string, why: OmissionReason])[];
  /** Its subfolders, as paths from the content folder. */
  readonly folders: readonly string[];
  readonly problems: readonly ContentProblem[];
}

/** The files of documents and collections in one folder, and nothing outside it. */
export type ContentFolder = Awaited<ReturnType<typeof openContentFolder>>;

export interface ContentOptions {
  /** The only folder with documents, from the content folder. */
  readonly docs?: string | undefined;
  /** Further folders whose files may be shown and included. */
  readonly files?: readonly string[];
  /** What addresses have in front in place of the content folder. */
  readonly linkRoot?: string | undefined;
}

/** Throws with a sentence if one of the folders is missing. */
export async function openContentFolder(
  folder: string,
  { docs: named = '', files = [], linkRoot }: ContentOptions = {},
) {
  const root = await openFolder(folder, '--content', 'Create it, or name another one with --content.');
  const inside = await openFolder(resolve(root, named), '--docs', 'It is a path from the content folder.');
  if (inside !== root && !isInside(root, inside))
    throw new Error(`--docs ${named} is not inside the content folder.`);
  const docs = `${relative(root, inside).replaceAll(sep, '/')}/`.replace(/^\/$/, '');
  const others: Record<string, string> = {};
  for (const one of files) {
    const other = await openFolder(one, '--files', 'It has files that documents show or include.');
    const name = basename(other).replace(/[^\w.-]+/g, '-') || 'files';
    others[name in others ? `${name}-${Object.keys(others).length + 1}` : name] = other;
  }
  const places: ContentPlaces = { contentFolder: root, otherFolders: others };
  let [seen, served] = ['', readServedFiles(root, docs)];
  const roots: LinkRoots = {
    docs,
    linkRoots: [linkRoot ?? '', docs, basename(root)].map((one) => one.replace(/^\/+|\/+$/g, '')),
  };
  return {
    ...roots,
    /** The absolute path of the folder, with every link in it resolved. */
    root,
    /** The folder, and others whose files may be shown and included. */
    places,
    /** Reads again which files are documents. Returns whether that may be others now. */
    renew(): boolean {
      const look = [ignoreFile, configFile].map((name) => tryNow(() => lookOf(lstatSync(join(root, name)))));
      const isOther = seen !== look.join(' ');
      if (isOther) [seen, served] = [look.join(' '), readServedFiles(root, docs)];
      return isOther;
    },
    /** The texts that Jekyll's configuration has about the site, by their names. */
    get site(): ReadonlyMap<string, string> {
      return served.site;
    },
    /** The direct content of one folder; undefined if the folder is gone. `''` is the content folder. */
    list: (path: string) => listFolder(root, path, served),
    /** Reads the whole file. Throws ContentError if it is too large, no longer a file, or outside the folder. */
    read: (path: string) => readPlace(placeOf(places, path)),
    /** The same without waiting, for a small file; undefined in place of an error. */
    readNow: (path: string) => tryRead(placeOf(places, path)),
    /** What `lookOf` returns for a file or a folder; undefined if there is none. */
    lookNow(path: string): string | undefined {
      const place = placeOf(places, path);
      return tryNow(() => lookOf(statSync(join(place.folder, place.path))));
    },
  };
}

async function openFolder(folder: string, flag: string, advice: string): Promise<string> {
  const found = await realpath(folder).catch((cause: unknown) => {
    const what = flag === '--content' ? 'The content folder' : `${flag}:`;
    throw new Error(`${what} ${folder} does not exist. ${advice}`, { cause });
  });
  if (!(await stat(found)).isDirectory()) throw new Error(`${folder} is a file. ${flag} needs a folder.`);
  return found;
}

const [ignoreFile, configFile] = ['.docsignore', '_config.yml'];

/** A `.docsignore` that cannot be read would publish what it leaves out, so it is an error. */
function readServedFiles(root: string, docs: string): ServedFiles {
  const textOf = (name: string) => {
    const bytes = tryRead({ folder: root, path: name });
    return bytes && new TextDecoder().decode(bytes);
  };
  const ignored = textOf(ignoreFile);
  if (ignored === undefined && tryNow(() => lstatSync(join(root, ignoreFile))) !== undefined)
    throw new Error(
      `${ignoreFile} cannot be read, or has more than 1 MB. The documents are served as they were.`,
    );
  return createServedFiles(ignored ?? '', textOf(configFile) ?? '', docs);
}

async function listFolder(
  root: string,
  folder: string,
  served: ServedFiles,
): Promise<ContentListing | undefined> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => error,
  );
  if (!Array.isArray(entries)) {
    if (isGone(entries)) return undefined;
    const problem = { path: folder || '.', message: `The folder cannot be read: ${entries.message}.` };
    return { isEmpty: false, files: [], others: [], leftOut: [], folders: [], problems: [problem] };
  }
  const visible = entries.filter(
    ({ name }) => (!name.startsWith('.') || name === '.pages') && name !== 'node_modules',
  );
  const pathOf = ({ name }: Dirent) => (folder === '' ? name : `${folder}/${name}`);
  const leftOut = new Map(
    visible.flatMap((entry) => {
      const path = pathOf(entry);
      if (!entry.isDirectory() && (!isDocument(path) || isCollection(path))) return [];
      const isList = entry.name === 'SUMMARY.md' && isListOfPages(root, path);
      const why = served.tryReason(path, { isFolder: entry.isDirectory(), isList });
      return why === undefined ? [] : [[entry.name, why] as const];
    }),
  );
  const read = visible.filter(({ name }) => !leftOut.has(name));
  const candidates = read.filter(
    (entry) => entry.isSymbolicLink() || (entry.isFile() && isContent(pathOf(entry))),
  );
  const looked = await Promise.all(
    candidates.map((entry) => {
      const path = pathOf(entry);
      // An unreadable path does not affect the others.
      const orProblem = (error: NodeJS.ErrnoException) =>
        isGone(error) ? undefined : { path, message: `The file cannot be read: ${error.message}.` };
      return (entry.isSymbolicLink() ? lookAtLink : lookAt)(root, path).catch(orProblem);
    }),
  );
  return {
    isEmpty: entries.length === 0,
    others: visible
      .filter((entry) => leftOut.has(entry.name) || !(entry.isDirectory() || isDocument(entry.name)))
      .map(({ name }) => name),
    leftOut: [...leftOut],
    files: looked.filter((one) => one !== undefined && 'size' in one),
    problems: [
      ...looked.filter((one) => one !== undefined && 'message' in one),
      ...(folder === '' ? served.problems : []),
    ],
    folders: read.filter((entry) => entry.isDirectory()).map(pathOf),
  };
}

/** Whether a `SUMMARY.md` is a list of the pages of a book, and no page itself. */
function isListOfPages(root: string, path: string): boolean {
  const bytes = tryRead({ folder: root, path });
  return (
    bytes !== undefined && /^[ \t]*[-*+][ \t]+\[[^\n]*\]\([^\n]*\)/m.test(new TextDecoder().decode(bytes))
  );
}

export function byPath(a: ContentFile, b: ContentFile): number {
  return a.path < b.path ? -1 : 1;
}

function isContent(path: string): boolean {
  return isDocument(path) || isCollection(path);
}

function isDocument(path: string): boolean {
  return documentEnding.test(path);
}

export function isCollection(path: string): boolean {
  return /^collections\/[^/]+\.ya?ml$/i.test(path);
}

type FileLook = ContentFile | ContentProblem | undefined;

async function lookAt(root: string, path: string): Promise<FileLook> {
  const found = await stat(join(root, path));
  if (!found.isFile()) return undefined;
  const { size, mtimeMs: modified, ctimeMs } = found;
  return { path, size, modified, changed: Math.max(modified, ctimeMs), look: lookOf(found) };
}

/** Reports a link if its author may expect that its target is served. */
async function lookAtLink(root: string, path: string): Promise<FileLook> {
  if (!isContent(path)) {
    const found = await stat(join(root, path)).catch(() => undefined);
    return found?.isDirectory() ? { path, message: linkedFolder } : undefined;
  }
  const target = await realpath(join(root, path)).catch(nowhereIsUndefined);
  if (target === undefined || !isInside(root, target))
    return { path, message: 'The symbolic link leads out of the content folder, or nowhere.' };
  if ((await stat(target)).isDirectory()) return { path, message: linkedFolder };
  const message = 'The symbolic link leads to something that is not a file.';
  return (await lookAt(root, path)) ?? { path, message };
}

const linkedFolder = 'Links to folders are not followed. Move the folder here.';

function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function nowhereIsUndefined(error: NodeJS.ErrnoException): undefined {
  if (isGone(error) || error.code === 'ELOOP') return undefined;
  throw error;
}

/** In bytes. */
const maxSmall = 1_000_000;

function tryRead(place: ContentPlace): Uint8Array | undefined {
  const found = tryNow(() => readPlaceNow(place, maxSmall));
  return typeof found === 'string' ? undefined : found;
}
