import { setTimeout as wait } from 'node:timers/promises';
import { createSharedWork } from '../../protocol/base/keyedWork.ts';
import { formatShare } from '../../protocol/base/text.ts';
import type { PartProgress } from '../../protocol/messages/messageTypes.ts';
import type { Model } from '../../protocol/messages/models.ts';
import { isKind, RunnerError } from '../base/errors.ts';
import type { Report, WorkState } from '../rpc/workDoneProgress.ts';
import {
  type ListedModel,
  type LoadOptions,
  type Runner,
  requireMembers,
  type WorkStep,
} from '../runner/runner.ts';
import { modelId } from './modelCapabilities.ts';
import type { Models } from './models.ts';
import { checkModelName, modelKey } from './name.ts';

/** The time between two checks of what is loaded, in ms. */
const lookEvery = 100;

/** Downloading, loading, unloading and deleting. Each settles when the runner's state shows the result. */
export class Lifecycle {
  readonly #downloads = createSharedWork<void, WorkState>();

  /**
   * `onDidChange` is called when models of a server were installed, loaded, unloaded or deleted. `unloadLimit` is how
   * long an unload may take, in ms.
   */
  constructor(
    private readonly models: Models,
    private readonly onDidChange: (runner: Runner) => void,
    private readonly now: () => number,
    private readonly unloadLimit = 5_000,
  ) {}

  /**
   * Settles when the model is installed. Two callers that pull the same model share one download, which after an abort
   * goes on for the other. The runner keeps what it has downloaded, and continues from there next time.
   */
  async pull(runner: Runner, model: string, watcher: { report: Report; signal: AbortSignal }): Promise<void> {
    checkModelName(runner, model);
    requireMembers(runner, 'pull');
    const download = async (signal: AbortSignal, report: Report) => {
      const progressOf = createDownloadProgress();
      for await (const lines of runner.pull(model, signal))
        for (const line of lines) report(progressOf(line));
      this.onDidChange(runner);
    };
    await this.#downloads.join(modelId(runner.server, model), download, watcher);
  }

  /** Loads a model and returns it as loaded. A remote model has nothing to load, so it is returned unchanged. */
  async run(runner: Runner, model: string, options: LoadOptions, signal: AbortSignal): Promise<Model> {
    checkModelName(runner, model);
    try {
      await this.#load(runner, model, options, signal);
    } catch (error) {
      // A remote model has nothing to load, and its host refuses an empty chat.
      const found = isKind(error, 'invalid-request') && (await this.models.find(runner, model, signal));
      if (!found || found.remote === undefined) throw error;
    }
    this.onDidChange(runner);
    return this.models.find(runner, model, signal);
  }

  /** Unloads a model. Settles when it is gone from memory. */
  async stop(runner: Runner, model: string, signal: AbortSignal): Promise<void> {
    checkModelName(runner, model);
    const loaded = await findLoaded(runner, model, signal);
    // The name under which it is loaded has its tag and the installed spelling.
    const name = loaded?.name ?? model;
    requireMembers(runner, 'unload');
    try {
      await runner.unload(name, signal);
    } catch (error) {
      // A remote model is never loaded, and its host does not know the request.
      if (loaded || !isKind(error, 'invalid-request')) throw error;
    }
    const end = this.now() + this.unloadLimit;
    while (await findLoaded(runner, name, signal)) {
      if (this.now() >= end) throw stillLoaded(name, runner, this.unloadLimit);
      await wait(lookEvery, undefined, { signal });
    }
    this.onDidChange(runner);
  }

  /** Removes a model from the disk. A loaded model is stopped first if `stops`; otherwise the request is refused. */
  async remove(runner: Runner, model: string, stops: boolean, signal: AbortSignal): Promise<void> {
    requireMembers(runner, 'remove');
    checkModelName(runner, model);
    if (await findLoaded(runner, model, signal)) {
      if (!stops) throw isRunning(model, runner);
      await this.stop(runner, model, signal);
    }
    await runner.remove(model, signal);
    this.onDidChange(runner);
  }

  async #load(runner: Runner, model: string, options: LoadOptions, signal: AbortSignal): Promise<void> {
    requireMembers(runner, 'load');
    await this.models.learn(runner, model, ['completion', 'embedding'], signal);
    const onlyEmbeds = this.models.onlyEmbeds(runner, model);
    const onProgress = () => this.onDidChange(runner);
    await runner.load(model, { ...options, onlyEmbeds, onProgress }, signal);
  }
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

/** No model has more layers. Further ones are not counted. */
const maxLayers = 4096;
const maxParts = 64;

/** Plain words for the runner's texts. Other texts are shown unchanged. */
const texts: ReadonlyMap<string, string> = new Map([
  ['pulling manifest', 'Looking up the model'],
  ['verifying sha256 digest', 'Checking the download'],
  ['writing manifest', 'Writing the manifest'],
  ['removing unused layers', 'Removing layers that are no longer used'],
  ['success', 'Done'],
]);

/**
 * Turns the lines of a pull or a create into a state. The runner does not announce the layers in advance, so the total
 * grows as they start. A layer that starts again lowers the count.
 */
export function createDownloadProgress(): (line: WorkStep) => WorkState {
  const layers = new Map<string, PartProgress>();
  let [completed, total] = [0, 0];

  const note = (digest: string, line: WorkStep): PartProgress | undefined => {
    const before = layers.get(digest);
    if (!before && layers.size >= maxLayers) return undefined;
    const size = Math.max(line.total ?? 0, before?.total ?? 0);
    const layer = { name: nameOf(digest), completed: Math.min(line.completed ?? 0, size), total: size };
    completed += layer.completed - (before?.completed ?? 0);
    total += layer.total - (before?.total ?? 0);
    layers.set(digest, layer);
    return layer;
  };

  return (line) => {
    const layer = line.digest !== undefined && line.total ? note(line.digest, line) : undefined;
    const message = layer ? messageOf(line.status, layer) : textOf(line.status);
    if (total === 0) return { message };
    return { message, completed, total, parts: [...layers.values()].slice(-maxParts) };
  };
}

function messageOf(status: string, layer: PartProgress): string {
  const verb = /^pulling /.test(status) ? `Downloading ${layer.name}` : textOf(status);
  return `${verb}: ${formatShare(layer.completed, layer.total)}`;
}

/** The first twelve digits, as in the runner's own texts, or the name of a file. */
function nameOf(digest: string): string {
  const [, digits] = /^sha256:(.{0,12})/.exec(digest) ?? [];
  return plain(digits ?? digest.slice(0, 100));
}

/** The text comes from the runner, so it is bounded and freed of control characters. */
function textOf(status: string): string {
  const clean = status
    .slice(0, 200)
    .replace(/\p{Cc}/gu, ' ')
    .trim();
  return texts.get(clean) ?? (clean.charAt(0).toUpperCase() + clean.slice(1) || 'Working');
}

/** The text comes from the runner, so control characters are removed. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}
