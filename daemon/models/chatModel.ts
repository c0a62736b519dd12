import * as z from 'zod/mini';
import { SerialQueue } from '../../protocol/base/keyedWork.ts';
import { writePrivateFile } from '../../protocol/base/platform/privateFile.ts';
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

/**
 * The model that answers when a conversation begins and nobody has named one. The rule is the same for every client.
 */
export class ChatModels {
  constructor(private readonly options: ChatModelsOptions) {}

  /** Asks the runner for its list. For a model that nobody named, it also asks whether the model has turns. */
  async find(runner: Runner, signal: AbortSignal): Promise<ChatModelResult> {
    const { models, settings, choices } = this.options;
    const { models: listed } = await models.list(runner, {}, signal);
    const able = listed.filter(canChat);
    const byName = (name: string) => able.find((model) => modelKey(model.name) === modelKey(name));
    const { chatModel = '', completionModel = '' } = settings();
    const set = chatModel === '' ? undefined : byName(chatModel);
    if (set) return { model: set, from: 'setting' };
    const missing = chatModel === '' ? {} : { missing: chatModel };

    const chosen = byName((await choices.last(runner.server.url)) ?? '');
    // A model that runs elsewhere may have replaced it since.
    if (chosen && !chosen.remote) return { model: chosen, from: 'choice', ...missing };
    const model = await this.#firstWithTurns(runner, inOrder(able, completionModel), signal);
    return model ? { model, from: model.running ? 'loaded' : 'newest', ...missing } : missing;
  }

  /**
   * The same among all servers: the model that is set or was chosen, wherever it is, else one of the server at `host`,
   * else one of another. Its name is that of {@link ModelPlaces.nameOf}.
   * @throws {RunnerError} as the server at `host` does, if no other server has a model either.
   */
  async findAnywhere(signal: AbortSignal): Promise<ChatModelResult> {
    const { servers, places, settings, choices } = this.options;
    const set = await this.#findElsewhere(settings().chatModel ?? '', signal);
    if (set) return { model: set, from: 'setting' };
    const usual = servers.server();
    const { error, ...first } = await this.#tryAt(usual, signal);
    const last = first.from === 'setting' ? '' : ((await choices.last(usual.url)) ?? '');
    const chosen = await this.#findElsewhere(last, signal);
    if (chosen && !chosen.remote) return { ...first, model: chosen, from: 'choice' };
    if (first.model) return { ...first, model: this.#named(first.model) };
    for (const server of places.all.slice(1)) {
      const { model, from } = await this.#tryAt(server, signal);
      if (model && from) return { ...first, model: this.#named(model), from };
    }
    if (error !== undefined) throw error;
    return first;
  }

  /**
   * The user chose this model. From now on it answers in every client, unless the setting names one. A model that runs
   * elsewhere is not remembered: what is said in another client must not go there without a choice. `""` forgets it.
   * @throws {RunnerError} `invalid-request`, if it is not the name of a model.
   */
  async choose(params: ModelParams): Promise<void> {
    const { places, isRemote, choices, servers } = this.options;
    const { server, model } = places.read(params);
    if (model !== '') checkFreeName(model);
    if (!isRemote(server, model)) await choices.keep(servers.server(params.server).url, params.model);
  }

  /** The first whose turns are written; if there is none, the first without a template, which may chat too. */
  async #firstWithTurns(
    runner: Runner,
    candidates: readonly Model[],
    signal: AbortSignal,
  ): Promise<Model | undefined> {
    let withoutTemplate: Model | undefined;
    for (const model of candidates.slice(0, maxExamined)) {
      const turns = await this.options.models.turns(runner, model.name, signal);
      if (turns === 'written') return model;
      if (turns === 'unknown') withoutTemplate ??= model;
    }
    return withoutTemplate;
  }

  /** A model that can chat, where the name places it on another server than the one at `host`. */
  async #findElsewhere(name: string, signal: AbortSignal): Promise<Model | undefined> {
    const { models, places, servers } = this.options;
    if (name === '' || places.all.length === 1) return undefined;
    const { runner, model } = await places.find({ model: name }, signal);
    if (runner.server.name === servers.server().name) return undefined;
    const listed = await models.list(runner, {}, signal).catch(() => undefined);
    const found = listed?.models.find((one) => canChat(one) && modelKey(one.name) === modelKey(model));
    return found && this.#named(found);
  }

  #named(model: Model): Model {
    return { ...model, name: this.options.places.nameOf({ name: model.server }, model.name) };
  }

  async #tryAt(
    { name }: Server,
    signal: AbortSignal,
  ): Promise<ChatModelResult & { readonly error?: unknown }> {
    try {
      return await this.find(await this.options.servers.runner(name, signal), signal);
    } catch (error) {
      signal.throwIfAborted();
      return { error };
    }
  }
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
export class ChatModelChoices {
  readonly #unwritten = new Map<string, string>();
  readonly #writes = new SerialQueue();

  /** Without a `path` the choices last only as long as this daemon. */
  constructor(
    private readonly path: string | undefined,
    private readonly log: Log,
  ) {}

  /** Undefined if nothing was chosen, or if nothing can be read. */
  async last(url: string): Promise<string | undefined> {
    if (this.path === undefined || this.#unwritten.has(url)) return this.#unwritten.get(url);
    return (await readKept(this.path)).find((choice) => choice.url === url)?.model;
  }

  /** If it cannot be written, the choice applies as long as this daemon runs. */
  async keep(url: string, model: string): Promise<void> {
    this.#unwritten.set(url, model);
    const path = this.path;
    if (path !== undefined) await this.#writes.run(path, () => this.#write(path, url, model));
  }

  async #write(path: string, url: string, model: string): Promise<void> {
    // A newer choice may have been made meanwhile, before this one was written or while it was.
    const isLast = () => this.#unwritten.get(url) === model;
    if (!isLast()) return;
    try {
      const others = (await readKept(path)).filter((choice) => choice.url !== url);
      const chosen = [...others, { url, model }].slice(-maxKept);
      await writePrivateFile(path, `${JSON.stringify({ chosen }, undefined, 1)}\n`);
      if (isLast()) this.#unwritten.delete(url);
    } catch (error) {
      this.log.warn(`The choice of ${model} could not be saved for the next time: ${String(error)}`);
    }
  }
}

async function readKept(path: string): Promise<readonly Choice[]> {
  return (await tryReadKept(path, keptSchema, maxBytes))?.chosen ?? [];
}
