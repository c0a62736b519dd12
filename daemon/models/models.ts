import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import { canChat } from '../../protocol/messages/choice.ts';
import type {
  CapabilityName,
  ListModelsResult,
  Model,
  ShowModelResult,
} from '../../protocol/messages/models.ts';
import { RunnerError } from '../base/errors.ts';
import type { Turns } from '../runner/chatTemplate.ts';
import type { RunnerClient } from '../runner/client.ts';
import type { WireList, WireModel } from '../runner/wire.ts';
import type { ModelKnowledge } from './knowledge.ts';
import { parseParameters, shownAsListed, toModel, withRunning } from './model.ts';
import { modelKey, parseModelName } from './name.ts';

/** A list younger than this is not requested again, in ms. */
const freshFor = 2_000;
/** How many models are examined one by one: on a server that does not list capabilities, and on request. */
const maxShown = 64;
const maxExamined = 100;
const atOnce = 4;

/** The models of a server, and what is known about them. */
export interface Models {
  list(client: RunnerClient, options: ListOptions, signal: AbortSignal): Promise<ListModelsResult>;
  running(client: RunnerClient, signal: AbortSignal): Promise<readonly Model[]>;
  show(client: RunnerClient, model: string, signal: AbortSignal): Promise<ShowModelResult>;
  /**
   * The model with this name, in its current state.
   * @throws {RunnerError} `model-not-found`.
   */
  find(client: RunnerClient, model: string, signal: AbortSignal): Promise<Model>;
  /** The names of the installed models; empty if the server does not answer and never has. */
  names(client: RunnerClient, signal: AbortSignal): Promise<readonly string[]>;
  /** Whether the model is known to embed and is not known to chat. */
  onlyEmbeds(client: RunnerClient, model: string): boolean;
  /** Whether a user can talk to it, as far as its template says. If the runner does not say, turns count as written. */
  turns(client: RunnerClient, model: string, signal: AbortSignal): Promise<Turns>;
  /** Discards the kept list, because it has changed. */
  forgetList(client: RunnerClient): void;
  /** Asks the runner for these capabilities if they are not known. A failure leaves them unknown. */
  learn(
    client: RunnerClient,
    model: string,
    names: readonly CapabilityName[],
    signal: AbortSignal,
  ): Promise<void>;
}

export interface ListOptions {
  readonly refresh: boolean;
  /** Also examines models whose tool support is not known. */
  readonly examine?: boolean;
}

interface Listed extends WireList {
  readonly running: readonly WireModel[];
  readonly at: number;
}

export function createModels(knowledge: ModelKnowledge, now: () => number): Models {
  const lists = new Map<string, Listed>();

  const fetchList = async (client: RunnerClient, signal: AbortSignal): Promise<Listed> => {
    const [list, running] = await Promise.all([client.tags(signal), runningOrNone(client, signal)]);
    const { models } = list;
    knowledge.learnListed(client.server, models);
    knowledge.learnRunning(client.server, running);
    await learnUnlisted(client, models, signal);
    const listed = { ...list, models: newestFirst(models), running, at: now() };
    lists.set(client.server.url, listed);
    return listed;
  };

  /** If a server does not list capabilities, each model is examined once for each digest. */
  const learnUnlisted = async (client: RunnerClient, models: readonly WireModel[], signal: AbortSignal) => {
    const unknown = models.filter(
      ({ name, capabilities }) => !capabilities && !knowledge.isShown(client.server, name),
    );
    await learnAll(client, unknown.slice(0, maxShown), signal);
  };

  /** Some lists leave tools out. Then only the details of a model say whether it supports them. */
  const examine = async (client: RunnerClient, models: readonly Model[], signal: AbortSignal) => {
    const unknown = models.filter(
      (model) =>
        canChat(model) &&
        model.capabilities.tools.value === 'unknown' &&
        !knowledge.isShown(client.server, model.name),
    );
    await learnAll(client, unknown.slice(0, maxExamined), signal);
  };

  const learnAll = async (
    client: RunnerClient,
    models: readonly { readonly name: string }[],
    signal: AbortSignal,
  ) => {
    const queue = [...models];
    const work = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        // If the runner is down, it is not asked about the rest.
        if (!(await learnShown(client, next.name, signal))) queue.length = 0;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  };

  /** False if the runner is down. */
  const learnShown = async (client: RunnerClient, model: string, signal: AbortSignal): Promise<boolean> => {
    try {
      knowledge.learnShown(client.server, model, await client.show(model, signal));
      return true;
    } catch (error) {
      if (signal.aborted || !(error instanceof RunnerError)) throw error;
      return !isDown(error);
    }
  };

  const toModels = (
    client: RunnerClient,
    { models, running }: Pick<Listed, 'models' | 'running'>,
  ): Model[] => {
    const loaded = new Map(running.map((model) => [modelKey(model.name), model]));
    // A key costs more than the rest of a row, and usually nothing is loaded.
    const stateOf = ({ name }: WireModel) => (loaded.size === 0 ? undefined : loaded.get(modelKey(name)));
    return models.map((model) => withRunning(toModel(model, client.server, knowledge), stateOf(model)));
  };

  const list: Models['list'] = async (client, options, signal) => {
    const known = lists.get(client.server.url);
    try {
      const isFresh = known && !options.refresh && now() - known.at < freshFor;
      const listed = isFresh ? known : await fetchList(client, signal);
      if (options.examine) await examine(client, toModels(client, listed), signal);
      const { leftOut } = listed;
      return { models: toModels(client, listed), ...(leftOut === 0 ? {} : { leftOut }) };
    } catch (error) {
      if (!known || signal.aborted || !isDown(error)) throw error;
      return { models: toModels(client, { models: known.models, running: [] }), stale: true };
    }
  };

  return {
    list,

    async find(client, model, signal) {
      const models = toModels(client, await fetchList(client, signal));
      const found = models.find(({ name }) => modelKey(name) === modelKey(model));
      if (found) return found;
      throw new RunnerError(
        'model-not-found',
        `The model ${model} is not installed on ${client.server.url}. Pull it, or choose one of the installed models.`,
        { details: { server: client.server.name, model } },
      );
    },

    async names(client, signal) {
      try {
        const { models } = await list(client, { refresh: false }, signal);
        return models.map(({ name }) => name);
      } catch (error) {
        if (signal.aborted || !(error instanceof RunnerError)) throw error;
        return [];
      }
    },

    onlyEmbeds(client, model) {
      const { completion, embedding } = knowledge.about(client.server, model).capabilities;
      return embedding.value === true && completion.value !== true;
    },

    async turns(client, model, signal) {
      if (!knowledge.isShown(client.server, model)) await learnShown(client, model, signal);
      return knowledge.turns(client.server, model) ?? 'written';
    },

    forgetList(client) {
      const known = lists.get(client.server.url);
      if (known) lists.set(client.server.url, { ...known, at: Number.NEGATIVE_INFINITY });
    },

    async running(client, signal) {
      const running = await client.ps(signal);
      knowledge.learnRunning(client.server, running);
      return toModels(client, { models: running, running });
    },

    async show(client, model, signal) {
      parseModelName(model);
      const [shown, listed] = await Promise.all([
        client.show(model, signal),
        fetchList(client, signal).catch(() => undefined),
      ]);
      knowledge.learnShown(client.server, model, shown);
      const wire =
        listed?.models.find(({ name }) => modelKey(name) === modelKey(model)) ?? shownAsListed(model, shown);
      const [known] = toModels(client, { models: [wire], running: listed?.running ?? [] });
      const { template, parameters, system, license, modelfile } = shown;
      return withoutUndefined({
        model: known ?? toModel(wire, client.server, knowledge),
        template,
        parameters: parameters === undefined ? undefined : parseParameters(parameters),
        system,
        license,
        modelfile,
      });
    },

    async learn(client, model, names, signal) {
      const isUnknown = (name: CapabilityName) => {
        const { value, from } = knowledge.capability(client.server, model, name);
        return value === 'unknown' || from === 'name';
      };
      if (!knowledge.isShown(client.server, model) && names.some(isUnknown))
        await learnShown(client, model, signal);
    },
  };
}

/** The runner counts in seconds and lists models of the same second in any order. Here they are sorted by name. */
function newestFirst(models: readonly WireModel[]): readonly WireModel[] {
  const dated = models.map((model) => ({ model, second: secondOf(model) }));
  dated.sort((a, b) => b.second - a.second || (a.model.name < b.model.name ? -1 : 1));
  return dated.map(({ model }) => model);
}

function secondOf({ modifiedAt }: WireModel): number {
  return modifiedAt === undefined ? 0 : Math.floor(Date.parse(modifiedAt) / 1_000);
}

/** Old servers do not have the route. Then no model counts as loaded. */
export async function runningOrNone(
  client: RunnerClient,
  signal: AbortSignal,
): Promise<readonly WireModel[]> {
  return client.ps(signal).catch((error) => {
    if (error instanceof RunnerError && error.kind === 'not-supported') return [];
    throw error;
  });
}

function isDown(error: unknown): boolean {
  return error instanceof RunnerError && error.data.retryable;
}
