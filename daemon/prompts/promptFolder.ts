import { opendir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ContentError } from '../../protocol/base/contentError.ts';
import { showLine } from '../../protocol/base/controlCharacters.ts';
import { messageOf } from '../../protocol/base/errorText.ts';
import { readRegularBytes } from '../base/regularFile.ts';
import { createYielder } from '../base/yielder.ts';
import { isPromptName, nameOf, type PromptFile, parsePromptFile } from './promptFile.ts';

const maxFileBytes = 64 * 1024;
const maxFiles = 200;
/** Entries of any kind: a folder of the user's may be anything. */
const maxEntries = 10_000;

/** A file that can be used, or why not. */
export type PromptFileEntry =
  | { readonly path: string; readonly file: PromptFile }
  | { readonly path: string; readonly name: string; readonly problem: string; readonly line?: number };

/** The names of the Markdown files, in their order. Empty if there is no such folder. */
export interface FolderListing {
  readonly folder: string;
  readonly files: readonly string[];
  readonly problem?: string;
}

/** Lists a folder without reading any of its files. Folders in it are not looked into. */
export async function listPromptFolder(folder: string): Promise<FolderListing> {
  const files: string[] = [];
  let entries = 0;
  try {
    for await (const { name } of await opendir(folder)) {
      if (++entries > maxEntries) break;
      if (/^[^.].*\.md$/is.test(name)) files.push(name);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { folder, files: [] };
    return { folder, files: [], problem: `The folder ${folder} cannot be read: ${messageOf(error)}.` };
  }
  files.sort();
  if (files.length <= maxFiles && entries <= maxEntries) return { folder, files };
  const problem = `The folder ${folder} has too much in it: only its first ${maxFiles} prompts count.`;
  return { folder, files: files.slice(0, maxFiles), problem };
}

/** Reads all files of a folder. A file that cannot be used does not affect the others. */
export async function readPromptFolder({
  folder,
  files,
}: FolderListing): Promise<readonly PromptFileEntry[]> {
  const pause = createYielder();
  const found: PromptFileEntry[] = [];
  const root = files.length === 0 ? folder : await realpath(folder);
  for (const name of files) {
    found.push(await readPrompt(root, join(folder, name)));
    await pause();
  }
  return found;
}

async function readPrompt(root: string, path: string): Promise<PromptFileEntry> {
  try {
    return { path, file: parsePromptFile(path, await readInside(root, path)) };
  } catch (error) {
    const line = error instanceof ContentError ? error.line : undefined;
    const name = nameOf(path);
    return {
      path,
      name: isPromptName(name) ? name : showLine(name),
      problem: problemOf(error),
      ...(line === undefined ? {} : { line }),
    };
  }
}

/** A link may lead to another file of the folder, and nowhere else. */
async function readInside(root: string, path: string): Promise<Buffer> {
  const file = await realpath(path);
  if (!file.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new ContentError('It is a link that leads out of the folder. Put the file itself here.');
  const { size } = await stat(file);
  if (size > maxFileBytes) throw new ContentError(`It has more than ${maxFileBytes / 1024} KB. Shorten it.`);
  return readRegularBytes(file, maxFileBytes);
}

function problemOf(error: unknown): string {
  if (error instanceof ContentError) return showLine(error.message);
  return showLine(`It cannot be read: ${messageOf(error)}.`);
}
