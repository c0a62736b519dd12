import * as vscode from 'vscode';
import { chatModelRequest, chooseChatModelRequest, type Model } from '../../../protocol/messages/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { idOf as idOfRow } from '../models/modelRow.ts';
import { chatModel, updateSetting } from '../settings.ts';
import type { Consent } from './consent.ts';
import type { OfferedModels } from './offeredModels.ts';
import { type Answering, type NamedModel, vendor, whoAnswers } from './whoAnswers.ts';

/** Which model answers `@runner`. */
export interface AnsweringModels {
  /**
   * The setting decides, else the editor's picker if the prompt comes from there, else the daemon's rule. Where the
   * picker showed the chosen model and now shows another one, the user has picked that since: the setting is cleared.
   */
  answering(picked?: vscode.LanguageModelChat): Promise<Answering>;
  /**
   * Chooses a model, in the setting and in the picker, where that offers it, and opens the chat with these options.
   * Returns false if the model is remote and the user refuses that.
   */
  choose(model: NamedModel, chat?: object): Promise<boolean>;
  /** This model answered in the chat: until another does, it also answers what does not come from there. */
  answered(model: NamedModel): Promise<void>;
  /** Leaves the choice to the picker, also in the next window and in other clients. */
  leaveToPicker(): Promise<void>;
  /** Whether this model may answer: the user is asked about a remote one. */
  mayAnswer(model: NamedModel): Promise<boolean>;
}

export function createAnsweringModels(
  daemon: DaemonConnection,
  offered: OfferedModels,
  consent: Consent,
  memory: vscode.Memento,
): AnsweringModels {
  let last: NamedModel | undefined;
  const remember = async (model: NamedModel | undefined) => {
    if (model && model.name === last?.name && model.server === last.server) return;
    last = model;
    // A failure costs only the memory.
    await daemon.request(chooseChatModelRequest, { model: model ? idOf(model) : '' }).catch(() => undefined);
  };
  const byRule = async () => {
    try {
      const rule = await daemon.request(chatModelRequest, {});
      return rule.model ? { ...rule, model: withOwnName(rule.model) } : rule;
    } catch {
      // The chat reports the reason later.
      return {};
    }
  };
  const mayAnswer = async ({ name, server }: NamedModel) => {
    const model = await offered.lookUp(name, server);
    return model === undefined || consent.request(model);
  };
  /** The user may have set it in the workspace too, where it counts more than the user's own. */
  const leaveToPicker = async () => {
    for (let tries = 0; tries < 2 && chatModel() !== ''; tries++) await updateSetting('chatModel', undefined);
    const left = chatModel();
    if (left !== '') throw new Error(`The setting runner.chatModel still names ${left}. Clear it by hand.`);
    await remember(undefined);
  };
  /** Follows the picker: a model that was picked after the one that a command chose is the newer choice. */
  const followPicker = async (shown: string | undefined) => {
    const chosen = memory.get<ChosenModel>(memoryKey);
    if (shown === undefined || chosen === undefined || chosen.id !== chatModel()) return;
    if (shown === chosen.id) await memory.update(memoryKey, { ...chosen, isShown: true });
    else if (chosen.isShown) await leaveToPicker();
  };
  return {
    mayAnswer,
    async answering(picked) {
      const inPicker =
        picked?.vendor === vendor ? offered.current.find(({ id }) => id === picked.id)?.model : undefined;
      await followPicker(inPicker && idOf(inPicker));
      const rule = inPicker && chatModel() === '' ? {} : await byRule();
      const answered = last && offered.find(last.name, last.server);
      // A model that runs elsewhere answers only where it was chosen.
      if (!picked && chatModel() === '' && answered && !answered.remote) return { model: answered };
      const { preferred } = offered;
      return whoAnswers({ rule, picked, inPicker, preferred });
    },
    async choose(model, chat = {}) {
      if (!(await mayAnswer(model))) return false;
      const id = idOf(model);
      await updateSetting('chatModel', id);
      await memory.update(memoryKey, { id, isShown: false });
      await remember(model);
      // The picker of an agent has no models without tools.
      await openChat({ ...chat, modelSelector: { vendor, id } }).catch(() => openChat(chat));
      return true;
    },
    answered: remember,
    leaveToPicker,
  };
}

function idOf({ name, server }: NamedModel): string {
  return idOfRow({ model: name, server });
}

/** What a command chose last, and whether the picker has shown it since. */
interface ChosenModel {
  readonly id: string;
  readonly isShown: boolean;
}

const memoryKey = 'runner.chosenChatModel';

/** The daemon's names of models of other servers begin with the server. */
function withOwnName(model: Model): Model {
  const { name, server } = model;
  return name.startsWith(`${server}/`) ? { ...model, name: name.slice(server.length + 1) } : model;
}

async function openChat(options: object): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.chat.open', options);
}
