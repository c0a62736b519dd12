import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ContentError } from '../../protocol/base/contentError.ts';
import type { ContentProblem } from './document.ts';

/** In bytes. A larger file is left out. */
const maxFileBytes = 10 * 1024 * 1024;

/** A file in the folder. The path is relative to the content folder, with `/` between its parts. */
export interface FoundFile {
  readonly path: string;
  readonly size: number;
  /** When it was written, in milliseconds since 1970. */
  readonly modified: number;
  /** When it was written, moved or given another time; the later of both times. */
  readonly changed: number;
  /** What `lookOf` returns. */
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

export interface FoundFolder {
  /** The folder has no entries at all, not even files that are no content. */
  readonly isEmpty: boolean;
  readonly files: readonly FoundFile[];
  /** The names of all other files, of links, and of what other programs do not serve either. */
  readonly others: readonly string[];
  /** Its subfolders, as paths from the content folder. */
  readonly folders: readonly string[];
  readonly problems: readonly ContentProblem[];
}

/** The files of documents and collections in one folder, and nothing outside it. */
export interface ContentFolder {
  /** The absolute path of the folder, with every link in it resolved. */
  readonly root: string;
  /** The direct content of one folder; undefined if the folder is gone. `''` is the content folder. */
  list(folder: string): Promise<FoundFolder | undefined>;
  /** Reads the whole file. Throws ContentError if it is too large, no longer a file, or outside the folder. */
  read(path: string): Promise<Uint8Array>;
  /** The same without waiting, for a small file; undefined in place of an error. */
  readNow(path: string): Uint8Array | undefined;
  /** What `lookOf` returns for a file or a folder; undefined if there is none. */
  lookNow(path: string): string | undefined;
}

/** Throws with a sentence if there is no such folder. */
export async function openContentFolder(folder: string): Promise<ContentFolder> {
  const root = await realpath(folder).catch((cause: unknown) => {
    throw new Error(
      `The content folder ${folder} does not exist. Create it, or name another one with --content.`,
      { cause },
    );
  });
  if (!(await stat(root)).isDirectory()) throw new Error(`${folder} is a file. --content needs a folder.`);
  return {
    root,
    list: (path) => listFolder(root, path),
    read: (path) => readInside(root, path),
    readNow: (path) => readSmallNow(root, path),
    lookNow: (path) => tryNow(() => lookOf(statSync(join(root, path)))),
  };
}

async function listFolder(root: string, folder: string): Promise<FoundFolder | undefined> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(reasonOf);
  if (entries === undefined) return undefined;
  if (typeof entries === 'string')
    return {
      isEmpty: false,
      files: [],
      others: [],
      folders: [],
      problems: [{ path: folder || '.', message: `The folder cannot be read: ${entries}` }],
    };
  const visible = entries.filter(({ name }) => !name.startsWith('.') && name !== 'node_modules');
  const pathOf = ({ name }: Dirent) => (folder === '' ? name : `${folder}/${name}`);
  const hasSummary =
    entries.some(({ name }) => name === 'SUMMARY.md') &&
    isSummary(readSmallNow(root, join(folder, 'SUMMARY.md')));
  const isLeftOut = (entry: Dirent) =>
    (isPartial(entry.name) && !isCollection(pathOf(entry))) || (hasSummary && entry.name === 'SUMMARY.md');
  const served = visible.filter((entry) => !isLeftOut(entry));
  const candidates = served.filter(
    (entry) => entry.isSymbolicLink() || (entry.isFile() && isContent(pathOf(entry))),
  );
  const looked = await Promise.all(
    candidates.map((entry) => {
      const path = pathOf(entry);
      return (entry.isSymbolicLink() ? lookAtLink(root, path) : lookAt(root, path)).catch(
        (error: NodeJS.ErrnoException) => problemOf(path, error),
      );
    }),
  );
  return {
    isEmpty: entries.length === 0,
    others: visible
      .filter((entry) => isLeftOut(entry) || !(entry.isDirectory() || isDocument(entry.name)))
      .map(({ name }) => name),
    files: looked.filter((one) => one !== undefined && 'size' in one),
    problems: looked.filter((one) => one !== undefined && 'message' in one),
    folders: served.filter((entry) => entry.isDirectory()).map(pathOf),
  };
}

/** Whether a file of this name is a list of the pages of a book, and no page itself. */
function isSummary(bytes: Uint8Array | undefined): boolean {
  return (
    bytes !== undefined && /^[ \t]*[-*+][ \t]+\[[^\n]*\]\([^\n]*\)/m.test(new TextDecoder().decode(bytes))
  );
}

export function byPath(a: FoundFile, b: FoundFile): number {
  return a.path < b.path ? -1 : 1;
}

/** Parts of pages, which Docusaurus, Jekyll and Quarto do not serve, by the name of the file or the folder. */
export function isPartial(name: string): boolean {
  return /^_(?!index\.|posts$|drafts$)/.test(name);
}

/** Markdown anywhere, and the YAML files of `collections/` at the top. */
function isContent(path: string): boolean {
  return isDocument(path) || isCollection(path);
}

/** The endings of documents. */
export const documentEnding = /\.(?:md|markdown|mdx|mdown|mkd|mkdn|qmd)$/i;

function isDocument(path: string): boolean {
  return documentEnding.test(path);
}

export function isCollection(path: string): boolean {
  return /^collections\/[^/]+\.ya?ml$/i.test(path);
}

type Looked = FoundFile | ContentProblem | undefined;

async function lookAt(root: string, path: string): Promise<Looked> {
  const found = await stat(join(root, path));
  if (!found.isFile()) return undefined;
  const { size, mtimeMs: modified, ctimeMs } = found;
  return { path, size, modified, changed: Math.max(modified, ctimeMs), look: lookOf(found) };
}

/** Reports a link if its author may expect that its target is served. */
async function lookAtLink(root: string, path: string): Promise<Looked> {
  if (!isContent(path)) {
    const isFolder = await stat(join(root, path)).then(
      (found) => found.isDirectory(),
      () => false,
    );
    return isFolder ? { path, message: linkedFolder } : undefined;
  }
  const target = await realpath(join(root, path)).catch(nowhereIsUndefined);
  if (target === undefined || !isInside(root, target))
    return { path, message: 'The symbolic link leads out of the content folder, or nowhere.' };
  if ((await stat(target)).isDirectory()) return { path, message: linkedFolder };
  return (
    (await lookAt(root, path)) ?? {
      path,
      message: 'The symbolic link leads to something that is not a file.',
    }
  );
}

const linkedFolder = 'Links to folders are not followed. Move the folder here.';

/** An unreadable path does not affect the others. */
function problemOf(path: string, error: NodeJS.ErrnoException): Looked {
  return isGone(error) ? undefined : { path, message: `The file cannot be read: ${error.message}.` };
}

function isInside(root: string, target: string): boolean {
  return target.startsWith(root.endsWith(sep) ? root : root + sep);
}

async function readInside(root: string, path: string): Promise<Uint8Array> {
  // Throws ENOENT if the file has disappeared since it was found.
  const file = await realpath(join(root, path));
  if (!isInside(root, file)) throw new ContentError(outside);
  // An ordinary open of a pipe without a writer would block for ever.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!isOpenedAt(handle.fd, file)) throw new ContentError(outside);
    return await readWhole(handle);
  } finally {
    await handle.close();
  }
}

/** In bytes. */
const maxSmall = 1_000_000;

function readSmallNow(root: string, path: string): Uint8Array | undefined {
  return tryNow(() => readSmall(root, path));
}

function readSmall(root: string, path: string): Uint8Array | undefined {
  const file = realpathSync(join(root, path));
  if (!isInside(root, file)) return undefined;
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(descriptor);
    const isReadable = isOpenedAt(descriptor, file) && found.isFile() && found.size <= maxSmall;
    return isReadable ? readFileSync(descriptor) : undefined;
  } finally {
    closeSync(descriptor);
  }
}

function tryNow<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const outside = 'The file is outside the content folder.';

async function readWhole(handle: FileHandle): Promise<Uint8Array> {
  const found = await handle.stat();
  const { size } = found;
  if (!found.isFile()) throw new ContentError('It is not a regular file.');
  if (size > maxFileBytes)
    throw new ContentError(`The file has more than ${maxFileBytes / 1024 / 1024} MB. Split it.`);
  const buffer = Buffer.alloc(size);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, size - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length === size) return buffer.subarray(0, length);
  }
}

/** Why a folder cannot be listed; undefined if it is gone. */
function reasonOf(error: NodeJS.ErrnoException): string | undefined {
  return isGone(error) ? undefined : `${error.message}.`;
}

function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function nowhereIsUndefined(error: NodeJS.ErrnoException): undefined {
  if (isGone(error) || error.code === 'ELOOP') return undefined;
  throw error;
}

/**
 * Whether an open file is the one at this path. A path that was checked before may lead elsewhere when it is opened,
 * because somebody has put a symbolic link into it; the open file is always the one that will be read.
 * @param path without symbolic links, as it was checked
 */
export function isOpenedAt(descriptor: number, path: string): boolean {
  const opened = openedPath(descriptor) ?? realpathSync(path);
  // An editor may have replaced the file by now.
  return opened === path || opened === `${path} (deleted)`;
}

/** Undefined on systems that do not report it. */
function openedPath(descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}
