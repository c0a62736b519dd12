import * as vscode from 'vscode';
import { defaultServerName } from '../../../protocol/messages/initialize.ts';
import { canChat, chatModelRequest, chooseChatModelRequest } from '../../../protocol/messages/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { pickModel } from '../models/modelPicker.ts';
import type { ModelRow } from '../models/modelRow.ts';
import { chatModel, updateSetting } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import type { Consent } from './consent.ts';
import type { OfferedModels } from './offeredModels.ts';

export interface NamedModel {
  readonly name: string;
  readonly server: string;
}

/** Which model answers `@runner`. */
export interface AnsweringModels {
  /**
   * The setting decides, else the editor's picker if the question comes from there, else the daemon's rule. `note`
   * explains to the user why another model answers than the one they would expect.
   */
  answering(
    picked?: vscode.LanguageModelChat,
  ): Promise<{ readonly model?: NamedModel; readonly note?: string }>;
  /** Chooses a model of the default server, unless it is remote and the user refuses that. */
  choose(name: string): Promise<void>;
  /** Whether this model may answer: the user is asked about a remote one. */
  mayAnswer(model: NamedModel): Promise<boolean>;
}

/** The vendor id under which other extensions and the editor's own chat find the runner's models. */
export const vendor = 'runner';

export function createAnsweringModels(
  daemon: DaemonConnection,
  offered: OfferedModels,
  consent: Consent,
): AnsweringModels {
  const byRule = async () => {
    try {
      return await daemon.request(chatModelRequest, {});
    } catch {
      // The chat reports the reason later.
      return {};
    }
  };
  const mayAnswer = async ({ name, server }: NamedModel) => {
    const model = await offered.lookUp(name, server);
    return model === undefined || consent.request(model);
  };
  return {
    mayAnswer,
    async answering(picked) {
      const { model: ruled, from, missing } = chatModel() === '' ? {} : await byRule();
      if (ruled && from === 'setting') return { model: ruled };
      const gone =
        missing === undefined ? undefined : `runner.chatModel names ${missing}, which cannot answer here.`;
      const inPicker =
        picked?.vendor === vendor ? offered.current.find(({ id }) => id === picked.id)?.model : undefined;
      if (inPicker) return { model: inPicker, ...(gone && { note: `${gone} ${inPicker.name} answers.` }) };
      const model = (await byRule()).model ?? offered.preferred;
      const note =
        model && picked && `${gone ? `${gone} ` : ''}${model.name} answers; the picker shows ${picked.name}`;
      return { ...(model && { model }), ...(note && { note }) };
    },
    async choose(name) {
      if (!(await mayAnswer({ name, server: defaultServerName }))) return;
      await updateSetting('chatModel', name);
      await daemon.request(chooseChatModelRequest, { model: name });
    },
  };
}

/** The commands that choose the model of the chat. */
export function registerChatModelCommands(
  daemon: DaemonConnection,
  models: AnsweringModels,
  reporter: ErrorReporter,
): vscode.Disposable {
  const during = 'Choosing a model';
  const chooseModel = async () => {
    const current = chatModel();
    const model = await pickModel(daemon, {
      title: 'Which Model Answers in the Chat?',
      fits: (one) => canChat(one) && one.server === defaultServerName,
      remark: ({ name, capabilities }) =>
        [capabilities.tools.value === false ? 'without tools' : '', name === current ? 'now' : '']
          .filter(Boolean)
          .join(' · '),
      none: 'There is no model that can chat. Pull one, such as qwen3:4b.',
    });
    if (model) await models.choose(model.name);
  };
  const chatWith = async (row: unknown) => {
    const { model, server = defaultServerName } = row as ModelRow;
    const isHere = server === defaultServerName;
    const named = { name: model, server };
    if (!(await models.mayAnswer(named))) return;
    if (isHere) await models.choose(model);
    else if (!(await leavesItToPicker(named))) return;
    await vscode.commands.executeCommand('workbench.action.chat.open', {
      query: '@runner ',
      isPartialQuery: true,
      ...(isHere ? {} : { modelSelector: { vendor, id: `${server}/${model}` } }),
    });
  };
  return vscode.Disposable.from(
    reporter.registerCommand('runner.chooseChatModel', chooseModel, during),
    reporter.registerCommand('runner.chatWithModel', chatWith, during),
  );
}

/** Whether the picker decides. The setting, which takes precedence over it, names only models of the default server. */
async function leavesItToPicker({ name, server }: NamedModel): Promise<boolean> {
  const current = chatModel();
  if (current === '') return true;
  const action = 'Clear the Setting';
  const detail = `The setting runner.chatModel names ${current}, which answers whatever the picker shows. To chat with a model of another server, clear the setting. The picker then decides.`;
  const question = `Chat with ${name} of the server ${server}?`;
  const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, action);
  if (answer !== action) return false;
  await updateSetting('chatModel', undefined);
  // Only the workspace's value may be gone; the user's own setting may name another model.
  return leavesItToPicker({ name, server });
}
