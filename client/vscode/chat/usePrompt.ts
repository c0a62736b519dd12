import { join } from 'node:path';
import * as vscode from 'vscode';
import { userPrompts } from '../../../protocol/base/userFolders.ts';
import { allowPromptsRequest, listPromptsRequest } from '../../../protocol/messages/prompts.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { askAboutFolder, workspacePlace } from './keptPrompts.ts';
import { newPrompt, participantCommands, promptChoices, promptName } from './promptChoices.ts';

/** "Use a Prompt": a list of the prompts that are kept as files, because the editor completes no names of them. */
export function registerUsePrompt(
  daemon: Pick<DaemonConnection, 'request'>,
  reporter: ErrorReporter,
): vscode.Disposable {
  return reporter.registerCommand('runner.usePrompt', () => usePrompt(daemon), 'Listing the prompts');
}

async function usePrompt(daemon: Pick<DaemonConnection, 'request'>): Promise<void> {
  const place = workspacePlace();
  const listed = await daemon.request(listPromptsRequest, { ...place, commands: participantCommands });
  const [problem] = listed.problems;
  const chosen = await vscode.window.showQuickPick(promptChoices(listed), {
    title: 'Use a Prompt',
    placeHolder: problem ?? 'It goes into the box of the chat, where you can add to it.',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  const choice = chosen?.choice;
  if (choice?.does === 'use') return fillChat(`@runner /${choice.name} `);
  if (choice?.does === 'open') return openAt(vscode.Uri.file(choice.path), choice.line);
  if (choice?.does === 'write') return writePrompt();
  if (choice?.does !== 'allow' || listed.folder === undefined) return;
  const allowed = await askAboutFolder(listed.folder);
  if (allowed === undefined) return;
  await daemon.request(allowPromptsRequest, { ...place, allowed });
  return usePrompt(daemon);
}

async function fillChat(query: string): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.chat.open', { query, isPartialQuery: true });
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
