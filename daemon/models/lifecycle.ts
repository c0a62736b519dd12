import { setTimeout as wait } from 'node:timers/promises';
import type { Model } from '../../protocol/messages/models.ts';
import { RunnerError } from '../base/errors.ts';
import type { LoadOptions, RunnerClient } from '../runner/client.ts';
import type { WireModel } from '../runner/wire.ts';
import { type Models, runningOrNone } from './models.ts';
import { modelKey, parseModelName } from './name.ts';

/** Loading, unloading and deleting. Each settles when the runner's state shows the result. */
export interface Lifecycle {
  /** Loads a model and returns it as loaded. A remote model has nothing to load, so it is returned unchanged. */
  run(client: RunnerClient, model: string, options: RunOptions): Promise<Model>;
  /** Unloads a model. Settles when it is gone from memory. */
  stop(client: RunnerClient, model: string, signal: AbortSignal): Promise<void>;
  /**
   * Removes a model from the disk. A loaded model is stopped first if `stop` is true; otherwise the request is refused.
   */
  remove(client: RunnerClient, model: string, options: RemoveOptions): Promise<void>;
}

export interface RunOptions extends LoadOptions {
  readonly signal: AbortSignal;
}

export interface RemoveOptions {
  readonly stop: boolean;
  readonly signal: AbortSignal;
}

export interface LifecycleOptions {
  readonly models: Models;
  /** Called when models of this server were loaded, unloaded or deleted. */
  readonly onDidChange: (client: RunnerClient) => void;
  readonly now: () => number;
  /** How long an unload may take, in ms. Default 5,000. */
  readonly unloadLimit?: number;
}

/** The time between two checks of what is loaded, in ms. */
const lookEvery = 100;

export function createLifecycle({
  models,
  onDidChange,
  now,
  unloadLimit = 5_000,
}: LifecycleOptions): Lifecycle {
  /** Addresses of servers that do not have the route `DELETE /api/ps/<model>`. */
  const withoutStopRoute = new Set<string>();

  const load = async (client: RunnerClient, model: string, { signal, ...options }: RunOptions) => {
    await models.learn(client, model, ['completion', 'embedding'], signal);
    if (models.onlyEmbeds(client, model)) return client.loadEmbedding(model, options, signal);
    try {
      await client.load(model, options, signal);
    } catch (error) {
      if (!isKind(error, 'not-supported')) throw error;
      await client.loadEmbedding(model, options, signal);
    }
  };

  const unload = async (client: RunnerClient, model: string, signal: AbortSignal) => {
    const { url } = client.server;
    if (!withoutStopRoute.has(url)) {
      try {
        return await client.stop(model, signal);
      } catch (error) {
        if (!isNoRoute(error)) throw error;
        // A server that names the model has the route, and did not find the model among the loaded ones.
        if (!isKind(error, 'model-not-found')) withoutStopRoute.add(url);
      }
    }
    await client.load(model, { keepAlive: 0 }, signal);
  };

  const untilGone = async (client: RunnerClient, model: string, signal: AbortSignal) => {
    const end = now() + unloadLimit;
    while (await findLoaded(client, model, signal)) {
      if (now() >= end) throw stillLoaded(model, client, unloadLimit);
      await wait(lookEvery, undefined, { signal });
    }
  };

  const stop = async (client: RunnerClient, model: string, signal: AbortSignal) => {
    parseModelName(model);
    const loaded = await findLoaded(client, model, signal);
    try {
      // Uses the name under which it is loaded, which has its tag and the installed spelling.
      await unload(client, loaded?.name ?? model, signal);
    } catch (error) {
      // A remote model is never loaded, and its host does not know the request.
      if (loaded || !isKind(error, 'invalid-request')) throw error;
    }
    await untilGone(client, loaded?.name ?? model, signal);
    onDidChange(client);
  };

  return {
    stop,
    async run(client, model, options) {
      parseModelName(model);
      try {
        await load(client, model, options);
      } catch (error) {
        // A remote model has nothing to load, and its host refuses an empty chat.
        const found = isKind(error, 'invalid-request') && (await models.find(client, model, options.signal));
        if (!found || found.remote === undefined) throw error;
      }
      onDidChange(client);
      return models.find(client, model, options.signal);
    },
    async remove(client, model, { stop: stops, signal }) {
      parseModelName(model);
      if (await findLoaded(client, model, signal)) {
        if (!stops) throw isRunning(model, client);
        await stop(client, model, signal);
      }
      await client.delete(model, signal);
      onDidChange(client);
    },
  };
}

/** The loaded model with this name, as the runner reports it. */
async function findLoaded(
  client: RunnerClient,
  model: string,
  signal: AbortSignal,
): Promise<WireModel | undefined> {
  const loaded = await runningOrNone(client, signal);
  return loaded.find(({ name }) => modelKey(name) === modelKey(model));
}

/** Only the status says so: some servers answer an unknown route with JSON, as they do for an unknown model. */
function isNoRoute(error: unknown): boolean {
  return error instanceof RunnerError && [404, 405, 501].includes(error.status ?? 0);
}

function isKind(error: unknown, kind: RunnerError['kind']): boolean {
  return error instanceof RunnerError && error.kind === kind;
}

function isRunning(model: string, { server }: RunnerClient): RunnerError {
  return new RunnerError('busy', `${model} is loaded. Stop it first, then delete it.`, {
    details: { server: server.name, model },
  });
}

function stillLoaded(model: string, { server }: RunnerClient, limit: number): RunnerError {
  return new RunnerError(
    'timeout',
    `${model} is still loaded after ${limit / 1000} seconds, because the runner first finishes its running answers. ` +
      'Stop those, or try again.',
    { details: { server: server.name, model } },
  );
}
