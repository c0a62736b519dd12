import * as vscode from 'vscode';
import { canChat, type Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import type { ChatSettings } from '../models/modelCopies.ts';
import type { ModelRow } from '../models/modelRow.ts';
import { chatModel } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { builtInChat } from '../walkthrough/walkthrough.ts';
import {
  agentNeeds,
  planChanges,
  renamesOf,
  type SettingChange,
  takeBack,
  type UserSettings,
} from './editorChatSettings.ts';
import type { OfferedModels } from './offeredModels.ts';

export interface EditorChatDependencies {
  readonly offered: Pick<OfferedModels, 'models' | 'preferred'>;
  readonly memory: vscode.Memento;
  readonly reporter: ErrorReporter;
}

/** The settings that were changed, until they are taken back. */
const memoryKey = 'runner.editorChatSettings';

/** Lets the editor's own chat work with the user's models, and takes that back. */
export function registerEditorChat({ offered, memory, reporter }: EditorChatDependencies): vscode.Disposable {
  const kept = () => keptChanges(memory);
  const use = async () => {
    const changes = planChanges(userSettings, modelForAgents(offered));
    const isEnabled = vscode.extensions.getExtension(builtInChat) !== undefined;
    if (isEnabled && changes.length === 0) return sayItIsSetUp(kept().length > 0);
    const answer = await askUser(isEnabled, changes);
    if (answer === undefined) return;
    if (answer === 'all') {
      const others = kept().filter(({ key }) => !changes.some((change) => change.key === key));
      await memory.update(memoryKey, [...others, ...changes]);
      for (const { key, value } of changes) await userSettings.update(key, value);
    }
    if (!isEnabled) await enable();
  };
  const stop = async () => {
    const keys = await takeBack(userSettings, kept());
    await memory.update(memoryKey, undefined);
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

function keptChanges(memory: vscode.Memento): readonly SettingChange[] {
  return memory.get<readonly SettingChange[]>(memoryKey) ?? [];
}

/** What was changed can still be taken back after a rename. */
export function createChatSettings(memory: vscode.Memento): ChatSettings {
  const renames = ({ model, server = defaultServerName }: ModelRow, to: string) =>
    renamesOf(userSettings, { name: model, server }, to);
  return {
    naming: (row) => renames(row, row.model).map(({ key }) => key),
    async rename(row, to) {
      for (const { key, value, before } of renames(row, to)) {
        await userSettings.update(key, value);
        const isSame = (change: SettingChange) => change.key === key && change.value === before;
        const changes = keptChanges(memory).map((change) => (isSame(change) ? { ...change, value } : change));
        await memory.update(memoryKey, changes);
      }
    },
  };
}

const userSettings: UserSettings = {
  inspect: (key) => vscode.workspace.getConfiguration().inspect(key),
  update: (key, value) =>
    vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global),
};

/**
 * A model on this machine with tools, whose window can hold an agent's first message: the chosen one, or the usual one.
 */
function modelForAgents({ models, preferred }: EditorChatDependencies['offered']): Model | undefined {
  const able = models.filter((model) => {
    const { remote, capabilities, context } = model;
    const isLargeEnough = (context.maximum ?? agentNeeds) >= agentNeeds;
    return canChat(model) && !remote && capabilities.tools.value !== false && isLargeEnough;
  });
  const chosen = able.find(({ name, server }) => server === 'default' && name === chatModel());
  return chosen ?? able.find((model) => model === preferred) ?? able[0];
}

async function enable(): Promise<void> {
  const install = 'workbench.extensions.installExtension';
  await vscode.commands.executeCommand(install, builtInChat, { enable: true });
}

async function askUser(
  isEnabled: boolean,
  changes: readonly SettingChange[],
): Promise<'all' | 'extension' | undefined> {
  const question = isEnabled
    ? "Set up the editor's own chat for your models?"
    : `Enable the editor's built-in extension ${builtInChat}?`;
  const [all, extension] = [isEnabled ? 'Set Up' : 'Enable', 'Enable Without Settings'];
  const about =
    'It works with your local models, without a sign-in. It is not part of Runner, and Runner does not control what else it sends. You can disable it again in the Extensions view.';
  const listed = changes.map(({ key, why }) => `• ${key}: ${why}`);
  const settings = [
    'These settings change, so that all of it uses your models:',
    ...listed,
    '"Runner: Stop Using Your Models in the Editor\'s Own Chat" takes them back.',
  ];
  const detail = [about, ...(changes.length > 0 ? [settings.join('\n')] : [])].join('\n\n');
  const buttons = isEnabled || changes.length === 0 ? [all] : [all, extension];
  const answer = await vscode.window.showInformationMessage(question, { modal: true, detail }, ...buttons);
  if (answer === undefined) return undefined;
  return answer === all ? 'all' : 'extension';
}

async function sayItIsSetUp(canReset: boolean): Promise<void> {
  const reset = 'Take the Settings Back';
  const sentence = "The editor's own chat is set up for your models. Choose one in its model picker.";
  const answer = await vscode.window.showInformationMessage(sentence, ...(canReset ? [reset] : []));
  if (answer === reset) await vscode.commands.executeCommand('runner.resetChat');
}
