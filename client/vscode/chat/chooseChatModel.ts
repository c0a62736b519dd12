import * as vscode from 'vscode';
import { canChat } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { pickModel } from '../models/modelPicker.ts';
import type { ModelRow } from '../models/modelRow.ts';
import { chatModel, updateSetting } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { chooseChatModel, letPickerDecide } from '../ui/remedies.ts';
import type { AnsweringModels } from './answeringModel.ts';
import { type NamedModel, vendor } from './whoAnswers.ts';

/** The commands that choose the model of the chat, or leave the choice to the editor's picker. */
export function registerChatModelCommands(
  daemon: DaemonConnection,
  models: AnsweringModels,
  reporter: ErrorReporter,
): vscode.Disposable {
  const during = 'Choosing a model';
  const choose = async () => {
    const model = await askForModel(daemon, models);
    if (!model) return;
    if (model.server !== defaultServerName) return chatInPicker(models, model);
    await models.choose(model.name);
    if (chatModel() === model.name) say(`${model.name} answers @runner from now on.`);
  };
  const chatWith = async (row: unknown) => {
    const { model, server = defaultServerName } = row as ModelRow;
    if (server !== defaultServerName) return chatInPicker(models, { name: model, server });
    if (!(await models.mayAnswer({ name: model, server }))) return;
    await models.choose(model);
    await openChat();
  };
  return vscode.Disposable.from(
    reporter.registerCommand(chooseChatModel.command, choose, during),
    reporter.registerCommand('runner.chatWithModel', chatWith, during),
    reporter.registerCommand(letPickerDecide.command, () => leaveItToPicker(models), during),
  );
}

/** A model of any server; undefined if the user left it to the picker, or dismissed the list. */
function askForModel(daemon: DaemonConnection, models: AnsweringModels): Promise<NamedModel | undefined> {
  const current = chatModel();
  const remarkOn = ({ name, server }: NamedModel) => {
    if (server !== defaultServerName) return 'chosen in the picker';
    return name === current ? 'now' : '';
  };
  return pickModel(daemon, {
    title: 'Which Model Answers in the Chat?',
    fits: canChat,
    remark: (model) =>
      [model.capabilities.tools.value === false ? 'without tools' : '', remarkOn(model)]
        .filter(Boolean)
        .join(' · '),
    none: 'There is no model that can chat. Pull one, such as qwen3:4b.',
    last: {
      label: `$(list-selection) ${letPickerDecide.title}`,
      description: current === '' ? 'now' : '',
      run: () => leaveItToPicker(models),
    },
  });
}

/** The setting names only models of the default server, so the picker chooses those of other servers. */
async function chatInPicker(models: AnsweringModels, model: NamedModel): Promise<void> {
  if (!(await models.mayAnswer(model)) || !(await mayClearSetting(models, model))) return;
  await openChat({ modelSelector: { vendor, id: `${model.server}/${model.name}` } });
}

async function openChat(options: object = {}): Promise<void> {
  const query = { query: '@runner ', isPartialQuery: true };
  await vscode.commands.executeCommand('workbench.action.chat.open', { ...query, ...options });
}

/** The user's own setting may name another model than the workspace's, so each has its turn. */
async function leaveItToPicker(models: AnsweringModels): Promise<void> {
  for (let tries = 0; tries < 2 && chatModel() !== ''; tries++) await updateSetting('chatModel', undefined);
  const left = chatModel();
  if (left !== '') throw new Error(`The setting runner.chatModel still names ${left}. Clear it by hand.`);
  await models.forget();
  say('The model in the picker answers @runner from now on.');
}

/** The setting takes precedence over the picker. */
async function mayClearSetting(models: AnsweringModels, { name, server }: NamedModel): Promise<boolean> {
  const current = chatModel();
  if (current === '') return true;
  const action = 'Clear the Setting';
  const detail = `The setting runner.chatModel names ${current}, which answers whatever the picker shows. To chat with a model of another server, clear the setting. The picker then decides.`;
  const question = `Chat with ${name} of the server ${server}?`;
  const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, action);
  if (answer !== action) return false;
  await leaveItToPicker(models);
  return true;
}

function say(sentence: string): void {
  vscode.window.setStatusBarMessage(sentence, 5_000);
}
