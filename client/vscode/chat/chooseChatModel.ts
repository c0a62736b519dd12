import * as vscode from 'vscode';
import { canChat, type Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { pickModel } from '../models/modelPicker.ts';
import { idOf, type ModelRow } from '../models/modelRow.ts';
import { chatModel } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { chooseChatModel, letPickerDecide } from '../ui/remedies.ts';
import type { AnsweringModels } from './answeringModel.ts';
import { labelOf } from './pickerEntries.ts';

/** The commands that choose the model of the chat, or leave the choice to the editor's picker. */
export function registerChatModelCommands(
  daemon: DaemonConnection,
  models: AnsweringModels,
  reporter: ErrorReporter,
): vscode.Disposable {
  const during = 'Choosing a model';
  const leave = async () => {
    await models.leaveToPicker();
    say('The model in the picker answers @runner from now on.');
  };
  const choose = async () => {
    const model = await askForModel(daemon, leave);
    if (model && (await models.choose(model))) say(`${labelOf(model)} answers @runner from now on.`);
  };
  const chatWith = async (row: unknown) => {
    const { model: name, server = defaultServerName } = row as ModelRow;
    await models.choose({ name, server }, { query: '@runner ', isPartialQuery: true });
  };
  return vscode.Disposable.from(
    reporter.registerCommand(chooseChatModel.command, choose, during),
    reporter.registerCommand('runner.chatWithModel', chatWith, during),
    reporter.registerCommand(letPickerDecide.command, leave, during),
  );
}

/** A model of any server; undefined if the user left it to the picker, or dismissed the list. */
function askForModel(daemon: DaemonConnection, leave: () => Promise<void>): Promise<Model | undefined> {
  const current = chatModel();
  return pickModel(daemon, {
    title: 'Which Model Answers in the Chat?',
    fits: canChat,
    remark: (model) =>
      [
        model.capabilities.tools.value === false ? 'without tools' : '',
        idOf({ model: model.name, server: model.server }) === current ? 'now' : '',
      ]
        .filter(Boolean)
        .join(' · '),
    none: 'There is no model that can chat. Pull one, such as qwen3:4b.',
    last: {
      label: `$(list-selection) ${letPickerDecide.title}`,
      description: current === '' ? 'now' : '',
      run: leave,
    },
  });
}

function say(sentence: string): void {
  vscode.window.setStatusBarMessage(sentence, 5_000);
}
