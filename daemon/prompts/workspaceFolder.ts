import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { PromptFolder } from '../../protocol/messages/prompts.ts';
import type { FolderAnswers } from './folderAnswers.ts';
import { type FolderListing, listPromptFolder } from './promptFolder.ts';

/** The folder with the prompts of a workspace, of which nothing but its names was read. */
export interface WorkspaceFolder extends PromptFolder {
  readonly listing: FolderListing;
}

interface FolderOptions {
  readonly answers: FolderAnswers;
  readonly isTrusted: boolean;
}

/** Undefined if the workspace has no such folder, if the folder has no prompts, or if it leads out of the workspace. */
export async function findWorkspaceFolder(
  root: string | undefined,
  { answers, isTrusted }: FolderOptions,
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
