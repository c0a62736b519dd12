import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, link, lstat, mkdir, open, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { replaceFile } from '../../../protocol/base/platform/privateFile.ts';
import { plainEnds } from '../../../protocol/base/text.ts';
import { tryPathOf } from '../../base/filePrivacy.ts';
import { openRegularFile, readOpenBytes } from '../../base/regularFile.ts';
import { FileProblemError, isFound, type WorkspaceFile } from './workspace.ts';

/** Where the text of files is read and written: the disk, or an editor that has a file system of its own. */
export interface FileStore {
  /** @throws {FileProblemError} if it cannot be read, or is no text. */
  read(file: WorkspaceFile, signal: AbortSignal): Promise<FileText>;
  /**
   * Writes the whole file, or nothing if it is no longer as it was read; without `before`, if it exists now.
   * @throws {FileProblemError} if it was not written.
   */
  write(file: WorkspaceFile, change: FileChange, signal: AbortSignal): Promise<void>;
  /** Removes a file that has these bytes. @throws {FileProblemError} if it has others. */
  remove(file: WorkspaceFile, bytes: Buffer): Promise<void>;
}

/** A file as text. The mark of the byte order is kept apart, because nobody types or sees it. */
export interface FileText {
  readonly text: string;
  readonly hasMark: boolean;
  /** Only where the file was read from the disk. */
  readonly bytes?: Buffer;
}

export interface FileChange {
  readonly before: FileText | undefined;
  readonly text: string;
}

/** Larger files are neither read nor changed. */
const maxBytes = 16 * 1024 * 1024;

export const diskStore: FileStore = {
  async read({ path, name }) {
    const bytes = await inWords(`${name} cannot be read`, () => readFile(path));
    return { ...decodeText(bytes), bytes };
  },
  async write(file, { before, text }, signal) {
    const bytes = encodeText({ text, hasMark: before?.hasMark ?? false });
    await inWords(`${file.name} was not written`, async () => {
      if (before?.bytes) await changeFile(file, { before: before.bytes, bytes, signal });
      else await createFile(file, bytes, signal);
    });
  },
  async remove({ path, name }, bytes) {
    await inWords(`${name} was not removed`, async () => {
      if (!(await readFile(path)).equals(bytes)) throw changedMeanwhile(name);
      await rm(path);
    });
  },
};

const mark = '\ufeff';

/** @throws {FileProblemError} if the bytes are not UTF-8. */
export function decodeText(bytes: Uint8Array): FileText {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new FileProblemError('The file is UTF-16; only UTF-8 is read and changed here.');
  if (bytes.includes(0))
    throw new FileProblemError('The file is binary; only text is read and changed here.');
  try {
    const whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const hasMark = whole.startsWith(mark);
    return { text: hasMark ? whole.slice(mark.length) : whole, hasMark };
  } catch {
    throw new FileProblemError(
      'The file is not UTF-8: it is binary, or in another encoding. Only UTF-8 is read and changed here.',
    );
  }
}

export function encodeText({ text, hasMark }: FileText): Buffer {
  return Buffer.from(hasMark ? mark + text : text, 'utf8');
}

/** Reads the file that the path leads to over no link, so that nobody can put a link in its place meanwhile. */
export async function readFile(path: string, most = maxBytes): Promise<Buffer> {
  const file = await openRegularFile(path, constants.O_NOFOLLOW);
  try {
    await requireSame(file, path);
    return await readOpenBytes(file, most);
  } finally {
    await file.close();
  }
}

/** A folder above may have become a link since the path was checked. */
async function requireSame(file: FileHandle, path: string): Promise<void> {
  const [real, opened, found] = await Promise.all([
    realpath(path),
    file.stat({ bigint: true }),
    lstat(path, { bigint: true }),
  ]);
  if (real !== path || opened.ino !== found.ino || opened.dev !== found.dev)
    throw new FileProblemError('The file was moved while it was opened. Try again.');
}

/** Puts a new file in the place of the old one, with its mode and, where that is allowed, its owner. */
async function changeFile(
  { path, name }: WorkspaceFile,
  { before, bytes, signal }: Readonly<{ before: Buffer; bytes: Buffer; signal: AbortSignal }>,
): Promise<void> {
  await access(path, constants.W_OK).catch(() => {
    throw new FileProblemError(`${name} is read-only, so it was not changed.`);
  });
  const { mode, uid, gid } = await lstat(path);
  await withFileBeside(path, { bytes, mode }, async (beside, file) => {
    // The system takes some bits from a new file.
    await file.chmod(mode & 0o7777);
    await file.chown(uid, gid).catch(() => undefined);
    await file.sync();
    const now = await readFile(path);
    if (!now.equals(before)) throw changedMeanwhile(name);
    signal.throwIfAborted();
    await replaceFile(beside, path);
  });
}

async function createFile({ path, name }: WorkspaceFile, bytes: Buffer, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  if ((await realpath(dirname(path))) !== dirname(path))
    throw new FileProblemError(
      `The folder of ${name} was moved meanwhile, so nothing was written. Try again.`,
    );
  await withFileBeside(path, { bytes, mode: 0o666 }, async (beside, file) => {
    await file.sync();
    signal.throwIfAborted();
    // Unlike a renamed file, a link never takes the place of another file.
    await link(beside, path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST' || (await isFound(path))) throw changedMeanwhile(name);
      // Not every file system has links.
      await replaceFile(beside, path);
    });
  });
}

/** Writes a file with another name into the same folder, which is gone afterwards unless it was renamed. */
async function withFileBeside(
  path: string,
  { bytes, mode }: { readonly bytes: Buffer; readonly mode: number },
  finish: (beside: string, file: FileHandle) => Promise<void>,
): Promise<void> {
  const beside = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomUUID()}.tmp`);
  try {
    const file = await open(beside, 'wx', mode & 0o777);
    try {
      await file.writeFile(bytes);
      await finish(beside, file);
    } finally {
      await file.close();
    }
  } finally {
    await rm(beside, { force: true });
  }
}

export function changedMeanwhile(name: string): FileProblemError {
  return new FileProblemError(
    `${name} has changed since the edit was made, so nothing was written. Read it again, and make a new edit.`,
  );
}

export function unsaved({ name }: WorkspaceFile): FileProblemError {
  return new FileProblemError(
    `${name} has unsaved changes in the editor, so it was not changed. Ask the user to save it first.`,
  );
}

export interface OpenText {
  readonly uri: string;
  getText(): string;
}

export interface UnsavedDocuments {
  /** The documents that the editor has open, as they are on its screen. */
  readonly openDocuments: () => readonly OpenText[];
  readonly store: FileStore;
}

/** @throws {FileProblemError} if the editor shows what the disk does not have. */
export async function refuseUnsaved(documents: UnsavedDocuments, file: WorkspaceFile): Promise<void> {
  if (await isUnsaved(documents, file)) throw unsaved(file);
}

/** Whether the editor shows what the disk does not have. Line ends do not count, since editors have their own. */
export async function isUnsaved(
  { openDocuments, store }: UnsavedDocuments,
  file: WorkspaceFile,
): Promise<boolean> {
  for (const document of openDocuments()) {
    const named = document.uri.startsWith('file:') ? tryPathOf(document.uri) : undefined;
    if (named === undefined || (await realpath(named).catch(() => named)) !== file.path) continue;
    const onDisk = file.isThere ? await store.read(file, new AbortController().signal) : undefined;
    if (onDisk === undefined || plainEnds(onDisk.text) !== plainEnds(document.getText())) return true;
  }
  return false;
}

/** `problem` is what a sentence begins with, which ends with the reason. */
async function inWords<T>(problem: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileProblemError || (error as Error).name === 'AbortError') throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new FileProblemError(`${problem}: ${reasons.get(code ?? '') ?? messageOf(error)}.`);
  }
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'the system does not allow it'],
  ['EPERM', 'the system does not allow it'],
  ['EROFS', 'the disk is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['ELOOP', 'it is a link'],
]);
