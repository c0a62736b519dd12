import * as vscode from 'vscode';
import { showLine } from '../../../protocol/base/controlCharacters.ts';
import { count } from '../../../protocol/base/text.ts';
import {
  allowPromptsRequest,
  type FilledPrompt,
  getPromptRequest,
  type PromptFolder,
} from '../../../protocol/messages/prompts.ts';
import type { DaemonConnection } from '../daemon/connection.ts';

/** `message` is for the user: nothing is to be sent then. */
type PromptLookup =
  | { readonly kind: 'typed' }
  | { readonly kind: 'prompt'; readonly prompt: FilledPrompt }
  | { readonly kind: 'said'; readonly message: string };

/** The prompt that is kept under the name with which a text begins, such as `/review`. */
export type FindPrompt = (typed: string, token: vscode.CancellationToken) => Promise<PromptLookup>;

export function createFindPrompt(daemon: Pick<DaemonConnection, 'request'>): FindPrompt {
  return async (typed, token) => {
    const [, name, text = ''] = /^\/([^\s/]+)(?:\s+(.*))?$/s.exec(typed.trim()) ?? [];
    if (name === undefined) return { kind: 'typed' };
    const place = workspacePlace();
    const get = () => daemon.request(getPromptRequest, { ...place, name, text }, token);
    let found = await get();
    if (found.kind === 'unasked') {
      const allowed = await askAboutFolder(found.folder);
      if (allowed !== undefined) {
        await daemon.request(allowPromptsRequest, { ...place, allowed });
        found = await get();
      }
    }
    if (found.kind === 'prompt') return { kind: 'prompt', prompt: found };
    return found.kind === 'none' ? { kind: 'typed' } : { kind: 'said', message: found.message };
  };
}

/** The folder whose prompts count beside those of the user. */
export function workspacePlace(): { readonly cwd?: string } {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  return folder?.uri.scheme === 'file' ? { cwd: folder.uri.fsPath } : {};
}

/** Undefined if the user gave no answer: the question then comes again. */
export async function askAboutFolder({ path, files }: PromptFolder): Promise<boolean | undefined> {
  const question = `Use the ${files === 1 ? 'prompt' : count(files, 'prompt')} of this workspace from now on?`;
  const detail = `They are in ${showLine(path)}, written by whoever wrote this workspace. What they say goes to the model as if you had typed it.`;
  const chosen = await vscode.window.showInformationMessage(
    question,
    { modal: true, detail },
    useThem,
    never,
  );
  return chosen === undefined ? undefined : chosen === useThem;
}

const useThem = 'Use Them';
const never = 'Never';
