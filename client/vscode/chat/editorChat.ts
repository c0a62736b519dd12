import * as vscode from 'vscode';
import { chatModel } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { builtInChat } from '../walkthrough/stepKeys.ts';
import {
  type ChatQuestion,
  type KeptChanges,
  modelForAgents,
  planChanges,
  questionAbout,
  type UserSettings,
} from './editorChatSettings.ts';
import type { OfferedModels } from './offeredModels.ts';

export interface EditorChatDependencies {
  readonly offered: Pick<OfferedModels, 'models' | 'preferred'>;
  readonly kept: KeptChanges;
  readonly reporter: ErrorReporter;
}

/** Lets the editor's own chat work with the user's models, and takes that back. */
export function registerEditorChat({ offered, kept, reporter }: EditorChatDependencies): vscode.Disposable {
  const use = async () => {
    const changes = planChanges(userSettings, modelForAgents(offered, chatModel()));
    const isEnabled = vscode.extensions.getExtension(builtInChat) !== undefined;
    if (isEnabled && changes.length === 0) return sayItIsSetUp(kept.isAny());
    const question = questionAbout(isEnabled, changes);
    const answer = await askUser(question);
    if (answer === undefined) return;
    if (answer === question.buttons[0]) await kept.make(changes);
    if (!isEnabled) await enable();
  };
  const stop = async () => {
    const keys = await kept.takeBack();
    const what = keys.length === 0 ? 'No setting is left to take back.' : `Taken back: ${keys.join(', ')}.`;
    const show = 'Show the Extension';
    const rest = 'To disable the chat itself, disable its extension.';
    if ((await vscode.window.showInformationMessage(`${what} ${rest}`, show)) === show)
      await vscode.commands.executeCommand('extension.open', builtInChat);
  };
  return vscode.Disposable.from(
    reporter.registerCommand('runner.enableChat', use, 'Enabling the chat'),
    reporter.registerCommand('runner.resetChat', stop, 'Taking back the settings of the chat'),
  );
}

export const userSettings: UserSettings = {
  inspect: (key) => vscode.workspace.getConfiguration().inspect(key),
  update: (key, value) =>
    vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global),
};

async function enable(): Promise<void> {
  const install = 'workbench.extensions.installExtension';
  await vscode.commands.executeCommand(install, builtInChat, { enable: true });
}

async function askUser({ message, detail, buttons }: ChatQuestion): Promise<string | undefined> {
  return vscode.window.showInformationMessage(message, { modal: true, detail }, ...buttons);
}

async function sayItIsSetUp(canReset: boolean): Promise<void> {
  const reset = 'Take the Settings Back';
  const sentence = "The editor's own chat is set up for your models. Choose one in its model picker.";
  const answer = await vscode.window.showInformationMessage(sentence, ...(canReset ? [reset] : []));
  if (answer === reset) await vscode.commands.executeCommand('runner.resetChat');
}
