import { createHash } from 'node:crypto';
import { opendir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import * as z from 'zod/mini';
import { writePrivateFile } from '../../protocol/base/platform/privateFile.ts';
import { messageOf, showLine } from '../../protocol/base/text.ts';
import { ContentError } from '../../protocol/base/yaml.ts';
import type { PromptFolder } from '../../protocol/messages/prompts.ts';
import { readRegularBytes, tryReadKept } from '../base/regularFile.ts';
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
interface FolderListing {
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

/** The folder with the prompts of a workspace, of which nothing but its names was read. */
export interface WorkspaceFolder extends PromptFolder {
  readonly listing: FolderListing;
}

/** Undefined if the workspace has no such folder, if the folder has no prompts, or if it leads out of the workspace. */
export async function findWorkspaceFolder(
  root: string | undefined,
  { answers, isTrusted }: { readonly answers: FolderAnswers; readonly isTrusted: boolean },
): Promise<WorkspaceFolder | undefined> {
  const path = root === undefined ? undefined : await tryFolder(root);
  if (path === undefined) return undefined;
  const listing = await listPromptFolder(path);
  if (listing.files.length === 0 && listing.problem === undefined) return undefined;
  const state = isTrusted ? stateOf(await answers.read(path)) : 'untrusted';
  return { path, state, files: listing.files.length, listing };
}

function stateOf(answer: boolean | undefined): PromptFolder['state'] {
  if (answer === undefined) return 'unasked';
  return answer ? 'allowed' : 'refused';
}

async function tryFolder(root: string): Promise<string | undefined> {
  try {
    const [workspace, folder] = await Promise.all([
      realpath(root),
      realpath(join(root, '.runner', 'prompts')),
    ]);
    return folder.startsWith(workspace.endsWith(sep) ? workspace : workspace + sep) ? folder : undefined;
  } catch {
    return undefined;
  }
}

const maxBytes = 64 * 1024;
const keptSchema = z.object({ version: z.literal(1), folder: z.string(), allowed: z.boolean() });

/** The user's answers to the question whether the prompts of a folder count. */
export type FolderAnswers = ReturnType<typeof createFolderAnswers>;

/** Each answer is a private file, so that daemons do not write over each other's. */
export function createFolderAnswers(state: string) {
  const pathOf = (folder: string) => {
    const id = createHash('sha256').update(folder).digest('hex').slice(0, 32);
    return join(state, `${id}.json`);
  };
  return {
    /** Undefined if the user has not been asked. */
    async read(folder: string): Promise<boolean | undefined> {
      const kept = await tryReadKept(pathOf(folder), keptSchema, maxBytes);
      return kept?.folder === folder ? kept.allowed : undefined;
    },
    write(folder: string, allowed: boolean): Promise<void> {
      return writePrivateFile(
        pathOf(folder),
        `${JSON.stringify({ version: 1, folder, allowed } satisfies z.output<typeof keptSchema>)}\n`,
      );
    },
  };
}

/** For a daemon that keeps nothing: the answers last as long as it runs. */
export function rememberAnswers(): FolderAnswers {
  const answers = new Map<string, boolean>();
  return {
    read: async (folder) => answers.get(folder),
    write: async (folder, allowed) => void answers.set(folder, allowed),
  };
}
