import type * as vscode from 'vscode';
import { chatModelRequest, chooseChatModelRequest } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { chatModel, updateSetting } from '../settings.ts';
import type { Consent } from './consent.ts';
import type { OfferedModels } from './offeredModels.ts';
import { type Answering, type NamedModel, vendor, whoAnswers } from './whoAnswers.ts';

/** Which model answers `@runner`. */
export interface AnsweringModels {
  /** The setting decides, else the editor's picker if the prompt comes from there, else the daemon's rule. */
  answering(picked?: vscode.LanguageModelChat): Promise<Answering>;
  /** Chooses a model of the default server, unless it is remote and the user refuses that. */
  choose(name: string): Promise<void>;
  /** This model answered in the chat: until another does, it also answers what does not come from there. */
  answered(model: NamedModel): Promise<void>;
  /** Leaves the choice to the picker, also in the next window and in other clients. */
  forget(): Promise<void>;
  /** Whether this model may answer: the user is asked about a remote one. */
  mayAnswer(model: NamedModel): Promise<boolean>;
}

export function createAnsweringModels(
  daemon: DaemonConnection,
  offered: OfferedModels,
  consent: Consent,
): AnsweringModels {
  let last: NamedModel | undefined;
  const remember = async (model: NamedModel | undefined) => {
    if (model && model.name === last?.name && model.server === last.server) return;
    last = model;
    const { name = '', server = defaultServerName } = model ?? {};
    // A failure costs only the memory.
    if (server === defaultServerName)
      await daemon.request(chooseChatModelRequest, { model: name }).catch(() => undefined);
  };
  const byRule = async () => {
    try {
      return await daemon.request(chatModelRequest, { server: defaultServerName });
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
      const inPicker =
        picked?.vendor === vendor ? offered.current.find(({ id }) => id === picked.id)?.model : undefined;
      const rule = inPicker && chatModel() === '' ? {} : await byRule();
      const answered = last && offered.find(last.name, last.server);
      // A model that runs elsewhere answers only where it was chosen.
      if (!picked && chatModel() === '' && answered && !answered.remote) return { model: answered };
      const { preferred } = offered;
      return whoAnswers({ rule, picked, inPicker, preferred });
    },
    async choose(name) {
      if (!(await mayAnswer({ name, server: defaultServerName }))) return;
      await updateSetting('chatModel', name);
      await remember({ name, server: defaultServerName });
    },
    answered: remember,
    forget: () => remember(undefined),
  };
}
