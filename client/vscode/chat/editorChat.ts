import * as vscode from 'vscode';
import type { Parts } from '../parts.ts';
import { chatModel, contextLength, updateSetting } from '../settings.ts';
import { setContextLength } from '../ui/remedies.ts';
import { builtInChat } from '../walkthrough/stepKeys.ts';
import {
  type ChatQuestion,
  createKeptChanges,
  modelForAgents,
  planChanges,
  questionAbout,
  summarizes,
  type UserSettings,
} from './editorChatSettings.ts';
import type { OfferedModels } from './offeredModels.ts';
import { largestOf, type WindowNeeds, windowChoices } from './windowChoices.ts';

/** Lets the editor's own chat work with the user's models, and takes that back. */
export function registerEditorChat({
  offered,
  memory,
  reporter,
}: Pick<Parts, 'memory' | 'offered' | 'reporter'>): vscode.Disposable {
  const kept = createKeptChanges(memory, userSettings);
  const use = async () => {
    const isEnabled = vscode.extensions.getExtension(builtInChat) !== undefined;
    const changes = planChanges(userSettings, modelForAgents(offered, chatModel()), isEnabled);
    if (isEnabled && changes.length === 0) return sayItIsSetUp(kept.isAny());
    const question = questionAbout(isEnabled, changes);
    const answer = await askUser(question);
    if (answer === undefined) return;
    if (!isEnabled) await enable();
    if (answer !== question.buttons[0]) return;
    if (changes.some(({ key }) => key === summarizes)) await untilKnown(summarizes);
    await kept.make(changes.filter(({ key }) => key !== summarizes || isKnown(key)));
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

const userSettings: UserSettings = {
  inspect: (key) => vscode.workspace.getConfiguration().inspect(key),
  update: (key, value) =>
    vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global),
};

async function enable(): Promise<void> {
  const install = 'workbench.extensions.installExtension';
  await vscode.commands.executeCommand(install, builtInChat, { enable: true });
}

function isKnown(key: string): boolean {
  return userSettings.inspect(key)?.defaultValue !== undefined;
}

/** The settings of an extension are known shortly after it was enabled; an older one may not have this one. */
async function untilKnown(key: string): Promise<void> {
  for (let tries = 0; tries < 50 && !isKnown(key); tries++)
    await new Promise((resolve) => setTimeout(resolve, 100));
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

/**
 * Asks how many tokens the runner should allocate, and stores the answer as a setting. After a refusal, the command
 * gets what the prompt needs and what its model holds.
 */
export function registerContextLength(offered: Pick<OfferedModels, 'models'>): vscode.Disposable {
  return vscode.commands.registerCommand(setContextLength.command, async (needs?: WindowNeeds) => {
    const items = windowChoices(needs ?? largestOf(offered.models), contextLength());
    const title = 'How Large a Context Window? A larger one needs more memory.';
    const chosen = await vscode.window.showQuickPick(items, { title });
    if (!chosen) return;
    await updateSetting('contextLength', chosen.tokens);
  });
}
