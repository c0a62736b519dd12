import * as vscode from 'vscode';
import {
  canChat,
  chatModelRequest,
  chooseChatModelRequest,
  type Model,
} from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { pickModel } from '../models/modelPicker.ts';
import { idOf, type ModelRow } from '../models/modelRow.ts';
import { sayBriefly } from '../models/work.ts';
import { chatModel, updateSetting } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { chooseChatModel, letPickerDecide } from '../ui/remedies.ts';
import type { Consent } from './consent.ts';
import type { OfferedModels } from './offeredModels.ts';
import { type AnswerChoice, labelOf, type NamedModel, vendor, whoAnswers } from './picker.ts';

/** What a command chose last, and whether the picker has shown it since. */
interface ChosenModel {
  readonly id: string;
  readonly isShown: boolean;
}

const memoryKey = 'runner.chosenChatModel';

/** Which model answers `@runner`. */
export class AnsweringModels {
  readonly #daemon: DaemonConnection;
  readonly #offered: OfferedModels;
  readonly #consent: Consent;
  readonly #memory: vscode.Memento;
  #last: NamedModel | undefined;

  constructor(daemon: DaemonConnection, offered: OfferedModels, consent: Consent, memory: vscode.Memento) {
    this.#daemon = daemon;
    this.#offered = offered;
    this.#consent = consent;
    this.#memory = memory;
  }

  /**
   * The setting decides, else the editor's picker if the prompt comes from there, else the daemon's rule. Where the
   * picker showed the chosen model and now shows another one, the user has picked that since: the setting is cleared.
   */
  async answering(picked?: vscode.LanguageModelChat): Promise<AnswerChoice> {
    const { current, preferred } = this.#offered;
    const inPicker =
      picked?.vendor === vendor ? current.find(({ id }) => id === picked.id)?.model : undefined;
    await this.#followPicker(inPicker && idOf(inPicker));
    const rule = inPicker && chatModel() === '' ? {} : await this.#byRule();
    const answered = this.#last && this.#offered.find(this.#last.name, this.#last.server);
    // A model that runs elsewhere answers only where it was chosen.
    if (!picked && chatModel() === '' && answered && !answered.remote) return { model: answered };
    return whoAnswers({ rule, picked, inPicker, preferred });
  }

  /**
   * Chooses a model, in the setting and in the picker, where that offers it, and opens the chat with these options.
   * Returns false if the model is remote and the user refuses that.
   */
  async choose(model: NamedModel, chat: object = {}): Promise<boolean> {
    if (!(await this.mayAnswer(model))) return false;
    const id = idOf(model);
    await updateSetting('chatModel', id);
    await this.#memory.update(memoryKey, { id, isShown: false });
    await this.answered(model);
    // The picker of an agent has no models without tools.
    await openChat({ ...chat, modelSelector: { vendor, id } }).catch(() => openChat(chat));
    return true;
  }

  /** This model answered in the chat: until another does, it also answers what does not come from there. */
  async answered(model: NamedModel | undefined): Promise<void> {
    if (model && model.name === this.#last?.name && model.server === this.#last.server) return;
    this.#last = model;
    const params = { model: model ? idOf(model) : '' };
    // A failure costs only the memory.
    await this.#daemon.request(chooseChatModelRequest, params).catch(() => undefined);
  }

  /**
   * Leaves the choice to the picker, also in the next window and in other clients. The user may have set the model in
   * the workspace too, where it counts more than the user's own.
   */
  async leaveToPicker(): Promise<void> {
    for (let tries = 0; tries < 2 && chatModel() !== ''; tries++) await updateSetting('chatModel', undefined);
    const left = chatModel();
    if (left !== '') throw new Error(`The setting runner.chatModel still names ${left}. Clear it by hand.`);
    await this.answered(undefined);
  }

  /** Whether this model may answer: the user is asked about a remote one. */
  async mayAnswer({ name, server }: NamedModel): Promise<boolean> {
    const model = await this.#offered.lookUp(name, server);
    return model === undefined || this.#consent.request(model);
  }

  async #byRule() {
    try {
      const rule = await this.#daemon.request(chatModelRequest, {});
      return rule.model ? { ...rule, model: withOwnName(rule.model) } : rule;
    } catch {
      // The chat reports the reason later.
      return {};
    }
  }

  /** Follows the picker: a model that was picked after the one that a command chose is the newer choice. */
  async #followPicker(shown: string | undefined): Promise<void> {
    const chosen = this.#memory.get<ChosenModel>(memoryKey);
    if (shown === undefined || chosen === undefined || chosen.id !== chatModel()) return;
    if (shown === chosen.id) await this.#memory.update(memoryKey, { ...chosen, isShown: true });
    else if (chosen.isShown) await this.leaveToPicker();
  }
}

/** The daemon's names of models of other servers begin with the server. */
function withOwnName(model: Model): Model {
  const { name, server } = model;
  return name.startsWith(`${server}/`) ? { ...model, name: name.slice(server.length + 1) } : model;
}

async function openChat(options: object): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.chat.open', options);
}

/** The commands that choose the model of the chat, or leave the choice to the editor's picker. */
export function registerChatModelCommands(
  daemon: DaemonConnection,
  models: AnsweringModels,
  reporter: ErrorReporter,
): vscode.Disposable {
  const during = 'Choosing a model';
  const leave = async () => {
    await models.leaveToPicker();
    sayBriefly('The model in the picker answers @runner from now on.');
  };
  const choose = async () => {
    const model = await askForModel(daemon, leave);
    if (model && (await models.choose(model))) sayBriefly(`${labelOf(model)} answers @runner from now on.`);
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
      [model.capabilities.tools.value === false ? 'without tools' : '', idOf(model) === current ? 'now' : '']
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
