import { setTimeout as wait } from 'node:timers/promises';
import type { Model } from '../../protocol/messages/models.ts';
import { RunnerError } from '../base/errors.ts';
import { required } from '../runner/abilities.ts';
import type { ListedModel, LoadOptions, Runner } from '../runner/runner.ts';
import type { Models } from './models.ts';
import { checkModelName, modelKey } from './name.ts';

export interface RunOptions extends LoadOptions {
  readonly signal: AbortSignal;
}

export interface LifecycleOptions {
  readonly models: Models;
  /** Called when models of this server were loaded, unloaded or deleted. */
  readonly onDidChange: (runner: Runner) => void;
  readonly now: () => number;
  /** How long an unload may take, in ms. Default 5,000. */
  readonly unloadLimit?: number;
}

/** The time between two checks of what is loaded, in ms. */
const lookEvery = 100;

export type Lifecycle = ReturnType<typeof createLifecycle>;

/** Loading, unloading and deleting. Each settles when the runner's state shows the result. */
export function createLifecycle({ models, onDidChange, now, unloadLimit = 5_000 }: LifecycleOptions) {
  const load = async (runner: Runner, model: string, { signal, ...options }: RunOptions) => {
    const loadModel = required(runner, 'load');
    await models.learn(runner, model, ['completion', 'embedding'], signal);
    await loadModel(
      model,
      { ...options, onlyEmbeds: models.onlyEmbeds(runner, model), onProgress: () => onDidChange(runner) },
      signal,
    );
  };

  const untilGone = async (runner: Runner, model: string, signal: AbortSignal) => {
    const end = now() + unloadLimit;
    while (await findLoaded(runner, model, signal)) {
      if (now() >= end) throw stillLoaded(model, runner, unloadLimit);
      await wait(lookEvery, undefined, { signal });
    }
  };

  const stop = async (runner: Runner, model: string, signal: AbortSignal) => {
    checkModelName(runner, model);
    const loaded = await findLoaded(runner, model, signal);
    const unload = required(runner, 'unload');
    try {
      // Uses the name under which it is loaded, which has its tag and the installed spelling.
      await unload(loaded?.name ?? model, signal);
    } catch (error) {
      // A remote model is never loaded, and its host does not know the request.
      if (loaded || !isKind(error, 'invalid-request')) throw error;
    }
    await untilGone(runner, loaded?.name ?? model, signal);
    onDidChange(runner);
  };

  return {
    /** Unloads a model. Settles when it is gone from memory. */
    stop,
    /** Loads a model and returns it as loaded. A remote model has nothing to load, so it is returned unchanged. */
    async run(runner: Runner, model: string, options: RunOptions): Promise<Model> {
      checkModelName(runner, model);
      try {
        await load(runner, model, options);
      } catch (error) {
        // A remote model has nothing to load, and its host refuses an empty chat.
        const found = isKind(error, 'invalid-request') && (await models.find(runner, model, options.signal));
        if (!found || found.remote === undefined) throw error;
      }
      onDidChange(runner);
      return models.find(runner, model, options.signal);
    },
    /**
     * Removes a model from the disk. A loaded model is stopped first if `stop` is true; otherwise the request is
     * refused.
     */
    async remove(
      runner: Runner,
      model: string,
      { stop: stops, signal }: { readonly stop: boolean; readonly signal: AbortSignal },
    ): Promise<void> {
      const removeModel = required(runner, 'remove');
      checkModelName(runner, model);
      if (await findLoaded(runner, model, signal)) {
        if (!stops) throw isRunning(model, runner);
        await stop(runner, model, signal);
      }
      await removeModel(model, signal);
      onDidChange(runner);
    },
  };
}

/** The loaded model with this name, as the runner reports it. */
async function findLoaded(
  runner: Runner,
  model: string,
  signal: AbortSignal,
): Promise<ListedModel | undefined> {
  const loaded = await runner.running(signal);
  return loaded.find(({ name }) => modelKey(name) === modelKey(model));
}

function isKind(error: unknown, kind: RunnerError['kind']): boolean {
  return error instanceof RunnerError && error.kind === kind;
}

function isRunning(model: string, { server }: Runner): RunnerError {
  return new RunnerError('busy', `${model} is loaded. Stop it first, then delete it.`, {
    details: { server: server.name, model },
  });
}

function stillLoaded(model: string, { server }: Runner, limit: number): RunnerError {
  return new RunnerError(
    'timeout',
    `${model} is still loaded after ${limit / 1000} seconds, because the runner first finishes its running answers. ` +
      'Stop those, or try again.',
    { details: { server: server.name, model } },
  );
}
