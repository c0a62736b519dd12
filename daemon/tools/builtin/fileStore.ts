import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, link, lstat, mkdir, open, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { orAborted } from '../../../protocol/base/abort.ts';
import { replaceFile } from '../../../protocol/base/platform/privateFile.ts';
import { messageOf, plainEnds } from '../../../protocol/base/text.ts';
import { tryPathOf } from '../../base/filePrivacy.ts';
import { openRegularFile, readOpenBytes } from '../../base/regularFile.ts';
import { FileProblemError } from './fileProblem.ts';
import { isFound, type WorkspaceFile } from './workspace.ts';

/** A file as text. The mark of the byte order is kept apart, because nobody types or sees it. */
export interface FileText {
  readonly text: string;
  readonly hasMark: boolean;
  /** What is on the disk, though an editor may have other text. */
  readonly bytes: Buffer;
}

/** The file system of an editor, as far as it has one: it knows what was not saved yet. */
export interface EditorFiles {
  readonly read?: (path: string) => Promise<string>;
  readonly write?: (path: string, text: string) => Promise<void>;
}

export interface OpenTexts {
  /** The documents that the editor has open, as they are on its screen. */
  readonly openDocuments: () => readonly { readonly uri: string; getText(): string }[];
  /** The editor's own file system. Absent: files are read and written on the disk. */
  readonly editorFiles?: (() => EditorFiles | undefined) | undefined;
}

/** What comes into a file. */
export interface NewText {
  /** As it was read; undefined if there is no file. */
  readonly before: FileText | undefined;
  readonly text: string;
}

/** Larger files are neither read nor changed. */
const maxBytes = 16 * 1024 * 1024;
const mark = '\ufeff';

/**
 * Reads and writes through the editor if it has a file system, else on the disk. Both are asked when a file is read:
 * the disk says whether it is text, and has the line ends that an editor may leave out. What cannot be done is a
 * {@link FileProblemError}.
 */
export class FileStore {
  readonly #texts: OpenTexts;

  constructor(texts: OpenTexts) {
    this.#texts = texts;
  }

  async read(file: WorkspaceFile, signal: AbortSignal): Promise<FileText> {
    const bytes = await inWords(`${file.name} cannot be read`, signal, () => readFile(file.path));
    const onDisk = decodeText(bytes);
    const { read } = this.#texts.editorFiles?.() ?? {};
    if (!read) return onDisk;
    const shown = await inWords(`The editor refused ${file.name}`, signal, () =>
      orAborted(read(file.path), signal),
    );
    const text = shown.replace(mark, '');
    return plainEnds(text) === plainEnds(onDisk.text) ? onDisk : { ...onDisk, text };
  }

  /** Writes the whole file, or nothing if it is no longer as it was read; without `before`, if it exists now. */
  async write(file: WorkspaceFile, { before, text }: NewText, signal: AbortSignal): Promise<void> {
    await this.refuseUnsaved(file);
    const editor = this.#texts.editorFiles?.();
    const now = before && editor && (await this.read(file, signal));
    if (before && now && (now.text !== before.text || !now.bytes.equals(before.bytes)))
      throw changedMeanwhile(file.name);
    const bytes = encodeText({ text, hasMark: before?.hasMark ?? false });
    const { write } = editor ?? {};
    if (write) {
      signal.throwIfAborted();
      const asked = () => orAborted(write(file.path, bytes.toString()), signal);
      return inWords(`The editor refused ${file.name}`, signal, asked);
    }
    if (before && decodeText(before.bytes).text !== before.text) throw unsaved(file);
    const change = { before: before?.bytes, bytes };
    await inWords(`${file.name} was not written`, signal, () => writeFile(file, change, signal));
  }

  /** Removes a file that has these bytes, also where an editor has files: it has no way to remove one. */
  async remove(file: WorkspaceFile, bytes: Buffer, signal: AbortSignal): Promise<void> {
    await this.refuseUnsaved(file);
    await inWords(`${file.name} was not removed`, signal, async () => {
      if (!(await readFile(file.path)).equals(bytes)) throw changedMeanwhile(file.name);
      await rm(file.path);
    });
  }

  async refuseUnsaved(file: WorkspaceFile): Promise<void> {
    if (await this.isUnsaved(file)) throw unsaved(file);
  }

  /** Whether a document shows what the disk does not have. Line ends do not count, since editors have their own. */
  async isUnsaved(file: WorkspaceFile): Promise<boolean> {
    for (const document of this.#texts.openDocuments()) {
      const named = document.uri.startsWith('file:') ? tryPathOf(document.uri) : undefined;
      if (named === undefined || (await realpath(named).catch(() => named)) !== file.path) continue;
      const onDisk = file.isThere ? await this.read(file, new AbortController().signal) : undefined;
      if (onDisk === undefined || plainEnds(onDisk.text) !== plainEnds(document.getText())) return true;
    }
    return false;
  }
}

/** @throws {FileProblemError} if the bytes are not UTF-8. */
export function decodeText(bytes: Buffer): FileText {
  const isWide = /^(\xff\xfe|\xfe\xff)/.test(bytes.toString('latin1', 0, 2));
  if (isWide) throw new FileProblemError('The file is UTF-16; only UTF-8 is read and changed here.');
  if (bytes.includes(0))
    throw new FileProblemError('The file is binary; only UTF-8 is read and changed here.');
  if (!isUtf8(bytes))
    throw new FileProblemError(
      'The file is not UTF-8: it is binary, or in another encoding. Only UTF-8 is read and changed here.',
    );
  const whole = bytes.toString();
  const hasMark = whole.startsWith(mark);
  return { text: hasMark ? whole.slice(mark.length) : whole, hasMark, bytes };
}

export function encodeText({ text, hasMark }: Omit<FileText, 'bytes'>): Buffer {
  return Buffer.from(hasMark ? mark + text : text);
}

/** Reads the file that the path leads to over no link, so that nobody can put a link in its place meanwhile. */
export async function readFile(path: string, most = maxBytes): Promise<Buffer> {
  const file = await openRegularFile(path, constants.O_NOFOLLOW);
  try {
    const [real, opened, found] = await Promise.all([
      realpath(path),
      file.stat({ bigint: true }),
      lstat(path, { bigint: true }),
    ]);
    // A folder above may have become a link since the path was checked.
    if (real !== path || opened.ino !== found.ino || opened.dev !== found.dev)
      throw new FileProblemError('The file was moved while it was opened. Try again.');
    return await readOpenBytes(file, most);
  } finally {
    await file.close();
  }
}

/** Writes into another file of the same folder, which gets the name once it is whole. */
async function writeFile(
  { path, name }: WorkspaceFile,
  { before, bytes }: { readonly before: Buffer | undefined; readonly bytes: Buffer },
  signal: AbortSignal,
): Promise<void> {
  const folder = dirname(path);
  if (before)
    await access(path, constants.W_OK).catch(() => {
      throw new FileProblemError(`${name} is read-only, so it was not changed.`);
    });
  else await mkdir(folder, { recursive: true });
  if ((await realpath(folder)) !== folder)
    throw new FileProblemError(
      `The folder of ${name} was moved meanwhile, so nothing was written. Try again.`,
    );
  const old = before && (await lstat(path));
  const beside = join(folder, `.${basename(path).slice(0, 100)}.${randomUUID()}.tmp`);
  let file: FileHandle | undefined;
  try {
    file = await open(beside, 'wx', old ? old.mode & 0o777 : 0o666);
    await file.writeFile(bytes);
    // The system takes some bits from a new file.
    if (old) await file.chmod(old.mode & 0o7777);
    if (old) await file.chown(old.uid, old.gid).catch(() => undefined);
    await file.sync();
    if (before && !(await readFile(path)).equals(before)) throw changedMeanwhile(name);
    signal.throwIfAborted();
    if (before) return await replaceFile(beside, path);
    // Unlike a renamed file, a link never takes the place of another file.
    await link(beside, path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST' || (await isFound(path))) throw changedMeanwhile(name);
      // Not every file system has links.
      await replaceFile(beside, path);
    });
  } finally {
    await file?.close();
    await rm(beside, { force: true });
  }
}

export function changedMeanwhile(name: string): FileProblemError {
  return new FileProblemError(
    `${name} has changed since the edit was made, so nothing was written. Read it again, and make a new edit.`,
  );
}

function unsaved({ name }: WorkspaceFile): FileProblemError {
  return new FileProblemError(
    `${name} has unsaved changes in the editor, so it was not changed. Ask the user to save it first.`,
  );
}

/** `problem` is what a sentence begins with, which ends with the reason. */
async function inWords<T>(problem: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FileProblemError) throw error;
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new FileProblemError(`${problem}: ${reasons.get(code) ?? messageOf(error).replace(/\.$/, '')}.`);
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
