import * as z from 'zod/mini';
import { writePrivateFile } from '../../protocol/base/platform/privateFile.ts';
import { SerialQueue } from '../../protocol/base/serialQueue.ts';
import {
  type ChatModelResult,
  canChat,
  type Model,
  type ModelParams,
} from '../../protocol/messages/models.ts';
import type { Log } from '../base/log.ts';
import { tryReadKept } from '../base/regularFile.ts';
import type { Runner, Server } from '../runner/runner.ts';
import type { Servers } from '../runner/servers.ts';
import type { ModelPlaces } from './modelPlaces.ts';
import type { Models } from './models.ts';
import { checkFreeName, modelKey } from './name.ts';

interface ChatModelsOptions {
  readonly models: Models;
  readonly servers: Servers;
  readonly places: ModelPlaces;
  readonly settings: () => { readonly chatModel?: string; readonly completionModel?: string };
  readonly choices: ChatModelChoices;
  readonly isRemote: (server: Server, model: string) => boolean;
}

/** The most models that are examined for turns. They are the loaded ones and the newest. */
const maxExamined = 8;

export type ChatModels = ReturnType<typeof createChatModels>;

/**
 * The model that answers when a conversation begins and nobody has named one. The rule is the same for every client.
 */
export function createChatModels(options: ChatModelsOptions) {
  const { models, servers, places, settings, choices, isRemote } = options;
  /** The first whose turns are written; if there is none, the first without a template, which may chat too. */
  const firstWithTurns = async (
    runner: Runner,
    candidates: readonly Model[],
    signal: AbortSignal,
  ): Promise<Model | undefined> => {
    let withoutTemplate: Model | undefined;
    for (const model of candidates.slice(0, maxExamined)) {
      const turns = await models.turns(runner, model.name, signal);
      if (turns === 'written') return model;
      if (turns === 'unknown') withoutTemplate ??= model;
    }
    return withoutTemplate;
  };

  const find = async (runner: Runner, signal: AbortSignal): Promise<ChatModelResult> => {
    const { models: listed } = await models.list(runner, { refresh: false }, signal);
    const able = listed.filter(canChat);
    const byName = (name: string) => able.find((model) => modelKey(model.name) === modelKey(name));
    const { chatModel = '', completionModel = '' } = settings();
    const set = chatModel === '' ? undefined : byName(chatModel);
    if (set) return { model: set, from: 'setting' };
    const missing = chatModel === '' ? {} : { missing: chatModel };

    const chosen = byName((await choices.last(runner.server.url)) ?? '');
    // A model that runs elsewhere may have replaced it since.
    if (chosen && !chosen.remote) return { model: chosen, from: 'choice', ...missing };
    const candidates = inOrder(able, completionModel);
    const model = await firstWithTurns(runner, candidates, signal);
    return model ? { model, from: model.running ? 'loaded' : 'newest', ...missing } : missing;
  };

  return {
    /** Asks the runner for its list. For a model that nobody named, it also asks whether the model has turns. */
    find,
    /**
     * The same among all servers: the model that is set or was chosen, wherever it is, else one of the server at
     * `host`, else one of another. Its name is that of {@link ModelPlaces.nameOf}.
     * @throws {RunnerError} as the server at `host` does, if no other server has a model either.
     */
    findAnywhere: findAnywhere(options, find),
    /**
     * The user chose this model. From now on it answers in every client, unless the setting names one. A model that
     * runs elsewhere is not remembered: what is said in another client must not go there without a choice. `""` forgets
     * it.
     * @throws {RunnerError} `invalid-request`, if it is not the name of a model.
     */
    async choose(params: ModelParams): Promise<void> {
      const { server, model } = places.read(params);
      if (model !== '') checkFreeName(model);
      if (!isRemote(server, model)) await choices.keep(servers.server(params.server).url, params.model);
    },
  };
}

/** The same rule for all servers: `find` applies it to one. */
function findAnywhere(
  { models, servers, places, settings, choices }: ChatModelsOptions,
  find: (runner: Runner, signal: AbortSignal) => Promise<ChatModelResult>,
) {
  /** A model that can chat, where the name places it on another server than the one at `host`. */
  const elsewhere = async (name: string, signal: AbortSignal): Promise<Model | undefined> => {
    if (name === '' || places.all.length === 1) return undefined;
    const { runner, model } = await places.find({ model: name }, signal);
    if (runner.server.name === servers.server().name) return undefined;
    const listed = await models.list(runner, { refresh: false }, signal).catch(() => undefined);
    const found = listed?.models.find((one) => canChat(one) && modelKey(one.name) === modelKey(model));
    return found && named(found);
  };
  const named = (model: Model): Model => ({
    ...model,
    name: places.nameOf({ name: model.server }, model.name),
  });

  const tryAt = async (
    { name }: Server,
    signal: AbortSignal,
  ): Promise<ChatModelResult & { readonly error?: unknown }> => {
    try {
      return await find(await servers.runner(name, signal), signal);
    } catch (error) {
      signal.throwIfAborted();
      return { error };
    }
  };

  return async (signal: AbortSignal): Promise<ChatModelResult> => {
    const set = await elsewhere(settings().chatModel ?? '', signal);
    if (set) return { model: set, from: 'setting' };
    const usual = servers.server();
    const { error, ...first } = await tryAt(usual, signal);
    const chosen =
      first.from === 'setting' ? undefined : await elsewhere((await choices.last(usual.url)) ?? '', signal);
    if (chosen && !chosen.remote) return { ...first, model: chosen, from: 'choice' };
    if (first.model) return { ...first, model: named(first.model) };
    for (const server of places.all.slice(1)) {
      const { model, from } = await tryAt(server, signal);
      if (model && from) return { ...first, model: named(model), from };
    }
    if (error !== undefined) throw error;
    return first;
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

const maxBytes = 64 * 1024;
/** For how many runners a choice is kept. The oldest choice makes room. */
const maxKept = 32;

const keptSchema = z.object({ chosen: z.array(z.object({ url: z.string(), model: z.string() })) });
type Choice = z.infer<typeof keptSchema>['chosen'][number];

/** The model that the user chose last for each runner, shared by every client and every daemon. */
type ChatModelChoices = ReturnType<typeof createChatModelChoices>;

/** Without a `path` the choices last only as long as this daemon. */
export function createChatModelChoices(path: string | undefined, log: Log) {
  const unwritten = new Map<string, string>();
  const writes = new SerialQueue();
  return {
    /** Undefined if nothing was chosen, or if nothing can be read. */
    async last(url: string): Promise<string | undefined> {
      if (path === undefined || unwritten.has(url)) return unwritten.get(url);
      return (await readKept(path)).find((choice) => choice.url === url)?.model;
    },
    /** If it cannot be written, the choice applies as long as this daemon runs. */
    async keep(url: string, model: string): Promise<void> {
      unwritten.set(url, model);
      if (path === undefined) return;
      await writes.run(path, async () => {
        // A newer choice may have been made meanwhile, before this one was written or while it was.
        const isLast = () => unwritten.get(url) === model;
        if (!isLast()) return;
        try {
          const others = (await readKept(path)).filter((choice) => choice.url !== url);
          const chosen = [...others, { url, model }].slice(-maxKept);
          await writePrivateFile(path, `${JSON.stringify({ chosen }, undefined, 1)}\n`);
          if (isLast()) unwritten.delete(url);
        } catch (error) {
          log.warn(`The choice of ${model} could not be saved for the next time: ${String(error)}`);
        }
      });
    },
  };
}

async function readKept(path: string): Promise<readonly Choice[]> {
  return (await tryReadKept(path, { schema: keptSchema, maxBytes }))?.chosen ?? [];
}
