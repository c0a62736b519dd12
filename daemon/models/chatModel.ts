import { canChat } from '../../protocol/messages/choice.ts';
import type { ChatModelResult, Model } from '../../protocol/messages/models.ts';
import type { RunnerClient, Server } from '../runner/client.ts';
import type { ChatModelChoices } from './chatModelChoices.ts';
import type { Models } from './models.ts';
import { modelKey, parseModelName } from './name.ts';

/**
 * The model that answers when a conversation begins and nobody has named one. The rule is the same for every client.
 */
export interface ChatModels {
  /** Asks the runner for its list. For a model that nobody named, it also asks whether the model has turns. */
  find(client: RunnerClient, signal: AbortSignal): Promise<ChatModelResult>;
  /**
   * The user chose this model. From now on it answers in every client, unless the setting names one. A model that runs
   * elsewhere is not remembered: what is said in another client must not go there without a choice.
   * @throws {RunnerError} `invalid-request`, if it is not the name of a model.
   */
  choose(client: RunnerClient, model: string): Promise<void>;
}

export interface ChatModelsOptions {
  readonly models: Models;
  readonly settings: () => { readonly chatModel?: string; readonly completionModel?: string };
  readonly choices: ChatModelChoices;
  readonly isRemote: (server: Server, model: string) => boolean;
}

/** The most models that are examined for turns. They are the loaded ones and the newest. */
const maxExamined = 8;

export function createChatModels({ models, settings, choices, isRemote }: ChatModelsOptions): ChatModels {
  /** The first whose turns are written; if there is none, the first without a template, which may chat too. */
  const firstWithTurns = async (
    client: RunnerClient,
    candidates: readonly Model[],
    signal: AbortSignal,
  ): Promise<Model | undefined> => {
    let withoutTemplate: Model | undefined;
    for (const model of candidates.slice(0, maxExamined)) {
      const turns = await models.turns(client, model.name, signal);
      if (turns === 'written') return model;
      if (turns === 'unknown') withoutTemplate ??= model;
    }
    return withoutTemplate;
  };

  return {
    async find(client, signal) {
      const { models: listed } = await models.list(client, { refresh: false }, signal);
      const able = listed.filter(canChat);
      const named = (name: string) => able.find((model) => modelKey(model.name) === modelKey(name));
      const { chatModel = '', completionModel = '' } = settings();
      const set = chatModel === '' ? undefined : named(chatModel);
      if (set) return { model: set, from: 'setting' };
      const missing = chatModel === '' ? {} : { missing: chatModel };

      const chosen = named((await choices.last(client.server.url)) ?? '');
      // A model that runs elsewhere may have replaced it since.
      if (chosen && !chosen.remote) return { model: chosen, from: 'choice', ...missing };
      const candidates = inOrder(able, completionModel);
      const model = await firstWithTurns(client, candidates, signal);
      return model ? { model, from: model.running ? 'loaded' : 'newest', ...missing } : missing;
    },

    async choose(client, model) {
      parseModelName(model);
      if (!isRemote(client.server, model)) await choices.keep(client.server.url, model);
    },
  };
}

/** The models of the runner's own machine: loaded ones first, then the newest. The completion model comes last. */
function inOrder(able: readonly Model[], completionModel: string): readonly Model[] {
  const rankOf = ({ name, running }: Model) => {
    if (completionModel !== '' && modelKey(name) === modelKey(completionModel)) return 2;
    return running ? 0 : 1;
  };
  return able.filter(({ remote }) => !remote).sort((a, b) => rankOf(a) - rankOf(b));
}
