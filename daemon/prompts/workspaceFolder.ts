import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import * as z from 'zod/mini';
import { writePrivateFile } from '../../protocol/base/platform/privateFile.ts';
import type { PromptFolder } from '../../protocol/messages/prompts.ts';
import { tryReadKept } from '../base/regularFile.ts';
import { type FolderListing, listPromptFolder } from './promptFolder.ts';

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
      const kept = await tryReadKept(pathOf(folder), { schema: keptSchema, maxBytes });
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
