import { join } from 'node:path';
import * as vscode from 'vscode';
import { userPrompts } from '../../../protocol/base/platform/folders.ts';
import { count, showLine } from '../../../protocol/base/text.ts';
import {
  allowPromptsRequest,
  type FilledPrompt,
  getPromptRequest,
  type ListPromptsResult,
  listPromptsRequest,
  type Prompt,
  type PromptFolder,
} from '../../../protocol/messages/prompts.ts';
import { promptCallIn, usageOf } from '../../shared/words.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { withoutIcons } from '../ui/safeText.ts';
import { prompts as ownPrompts } from './prompt.ts';

/** `message` is for the user: nothing is to be sent then. */
type PromptLookup =
  | { readonly kind: 'typed' }
  | { readonly kind: 'prompt'; readonly prompt: FilledPrompt }
  | { readonly kind: 'said'; readonly message: string };

/** The prompt that is kept under the name with which a text begins, such as `/review`. */
export async function findPrompt(
  daemon: DaemonConnection,
  typed: string,
  token: vscode.CancellationToken,
): Promise<PromptLookup> {
  const call = promptCallIn(typed.trim());
  if (!call) return { kind: 'typed' };
  const params = { ...workspacePlace(), ...call };
  let found = await daemon.request(getPromptRequest, params, token);
  if (found.kind === 'unasked' && (await askAboutFolder(daemon, found.folder)) !== undefined)
    found = await daemon.request(getPromptRequest, params, token);
  if (found.kind === 'prompt') return { kind: 'prompt', prompt: found };
  return found.kind === 'none' ? { kind: 'typed' } : { kind: 'said', message: found.message };
}

/** The folder whose prompts count beside those of the user. */
function workspacePlace(): { readonly cwd?: string } {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  return folder?.uri.scheme === 'file' ? { cwd: folder.uri.fsPath } : {};
}

/** Whether its prompts count from now on. Undefined if the user gave no answer: the question then comes again. */
async function askAboutFolder(
  daemon: DaemonConnection,
  { path, files }: PromptFolder,
): Promise<boolean | undefined> {
  const [useThem, never] = ['Use Them', 'Never'];
  const question = `Use the ${files === 1 ? 'prompt' : count(files, 'prompt')} of this workspace from now on?`;
  const detail = `They are in ${showLine(path)}, written by whoever wrote this workspace. What they say goes to the model as if you had typed it.`;
  const chosen = await vscode.window.showInformationMessage(
    question,
    { modal: true, detail },
    useThem,
    never,
  );
  if (chosen === undefined) return undefined;
  const allowed = chosen === useThem;
  await daemon.request(allowPromptsRequest, { ...workspacePlace(), allowed });
  return allowed;
}

/** "Use a Prompt": a list of the prompts that are kept as files, because the editor completes no names of them. */
export async function usePrompt(daemon: DaemonConnection): Promise<void> {
  const params = { ...workspacePlace(), commands: participantCommands };
  const listed = await daemon.request(listPromptsRequest, params);
  const [problem] = listed.problems;
  const chosen = await vscode.window.showQuickPick(promptChoices(listed, daemon), {
    title: 'Use a Prompt',
    placeHolder: problem ?? 'It goes into the box of the chat, where you can add to it.',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  await chosen?.run();
}

async function openAt(uri: vscode.Uri, line = 1): Promise<void> {
  const at = new vscode.Position(line - 1, 0);
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(at, at) });
}

/** A file that exists opens as it is. */
async function writePrompt(): Promise<void> {
  const name = await vscode.window.showInputBox({
    title: 'New Prompt',
    prompt: 'What you will type behind the slash, such as review',
    ignoreFocusOut: true,
    validateInput: (text) =>
      promptName.test(text.trim())
        ? undefined
        : 'A name has lower-case letters, digits, _ and -, and begins with a letter or a digit.',
  });
  if (name === undefined) return;
  const uri = vscode.Uri.file(join(userPrompts(process.env), `${name.trim()}.md`));
  const { fs } = vscode.workspace;
  const isThere = await fs.stat(uri).then(
    () => true,
    () => false,
  );
  if (!isThere) await fs.writeFile(uri, new TextEncoder().encode(newPrompt));
  await openAt(uri);
}

/** The slash commands of `@runner`, which come before prompts with their names. */
const participantCommands: readonly string[] = [...Object.keys(ownPrompts), 'model', 'think', 'prompts'];

interface PromptChoice extends vscode.QuickPickItem {
  readonly run: () => Promise<void>;
}

/** The rows: prompts that can be used, then files that cannot, with the reason, then what else can be done. */
function promptChoices(
  { prompts, folder }: ListPromptsResult,
  daemon: DaemonConnection,
): readonly PromptChoice[] {
  const usable = prompts.filter(isUsable).map(toUse);
  const others = prompts.flatMap((prompt) => (isUsable(prompt) ? [] : toOpen(prompt)));
  const allow: readonly PromptChoice[] =
    folder?.state === 'unasked'
      ? [
          {
            label: '$(folder) Prompts of This Workspace…',
            description: `${count(folder.files, 'prompt')} that you have not allowed yet`,
            async run() {
              if ((await askAboutFolder(daemon, folder)) !== undefined) await usePrompt(daemon);
            },
          },
        ]
      : [];
  return [...usable, ...others, ...allow, { label: '$(add) New Prompt…', run: writePrompt }];
}

function isUsable({ problem, hiddenBy }: Prompt): boolean {
  return problem === undefined && hiddenBy === undefined;
}

function toUse(prompt: Prompt): PromptChoice {
  const [name = '', ...words] = usageOf(prompt).split(' ');
  const about = [...(words.length > 0 ? [words.join(' ')] : []), ...whose(prompt)].join(' · ');
  return {
    label: safe(name),
    description: safe(about),
    ...(prompt.description === '' ? {} : { detail: safe(prompt.description) }),
    async run() {
      const query = { query: `@runner /${prompt.name} `, isPartialQuery: true };
      await vscode.commands.executeCommand('workbench.action.chat.open', query);
    },
  };
}

/** It cannot be used: its file opens, at the line of what is wrong, counted from 1. */
function toOpen(prompt: Prompt): readonly PromptChoice[] {
  const { name, path, problem, line = 1, hiddenBy } = prompt;
  if (path === undefined) return [];
  const why =
    hiddenBy === 'command'
      ? `Hidden: /${name} is a command of @runner. Rename the prompt.`
      : 'Hidden by your own prompt with this name.';
  return [
    {
      label: `$(warning) ${safe(`/${name}`)}`,
      description: whose(prompt).join(''),
      detail: safe(problem ?? why),
      run: () => openAt(vscode.Uri.file(path), line),
    },
  ];
}

function whose({ from, server }: Prompt): readonly string[] {
  if (from === 'user') return [];
  return [from === 'workspace' ? 'of this workspace' : `of the tool server ${server}`];
}

/** Text of a file, which may have icons and control characters of its own. */
function safe(text: string): string {
  return withoutIcons(showLine(text));
}

/** The name of a file without its ending, if it can be the name of a prompt. */
const promptName = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** The text of a new prompt, which can be used as it is. */
const newPrompt = `---
description: Explains something, with an example
arguments:
  - name: topic
    required: true
---
Explain {{topic}}. Then show the smallest example that works.
`;
