import { withoutUndefined } from '../../protocol/base/json.ts';
import {
  type CapabilityName,
  canChat,
  type ListModelsParams,
  type ListModelsResult,
  type Model,
  type ShowModelResult,
} from '../../protocol/messages/models.ts';
import { RunnerError } from '../base/errors.ts';
import { createEmitter, type Event } from '../base/event.ts';
import type { Turns } from '../runner/chatTemplate.ts';
import type { ListedModel, ModelList, Runner } from '../runner/runner.ts';
import { parseParameters, shownAsListed, toModel, withRunning } from './model.ts';
import type { ModelCapabilities } from './modelCapabilities.ts';
import { checkModelName, modelKey } from './name.ts';

/** A list younger than this is not requested again, in ms. */
const freshFor = 2_000;
/** How many models are examined one by one: on a server that does not list capabilities, and on request. */
const maxShown = 64;
const maxExamined = 100;
const atOnce = 4;

/** The models of the servers, and what is known about them. */
export class Models {
  /** The latest list of each server, by its address. */
  readonly #lists = new Map<string, ModelSnapshot>();
  readonly #changed = createEmitter<void>();
  /** A list has other models than the one before it: another program installed or removed some. */
  readonly onDidFindChange: Event<void> = this.#changed.event;

  /** `now` in ms. */
  constructor(
    private readonly knowledge: ModelCapabilities,
    private readonly now: () => number,
  ) {}

  async list(runner: Runner, options: ListChoice, signal: AbortSignal): Promise<ListModelsResult> {
    const known = this.#lists.get(runner.server.url);
    try {
      const fresh = options.refresh ? undefined : this.#freshList(runner);
      const listed = fresh ?? (await this.#fetchList(runner, signal));
      if (options.examine) await this.#examine(runner, this.#toModels(runner, listed), signal);
      const { leftOut } = listed;
      return { models: this.#toModels(runner, listed), ...(leftOut === 0 ? {} : { leftOut }) };
    } catch (error) {
      if (!known || signal.aborted || !isDown(error)) throw error;
      return { models: this.#toModels(runner, { models: known.models, running: [] }), stale: true };
    }
  }

  async running(runner: Runner, signal: AbortSignal): Promise<readonly Model[]> {
    const running = await runner.running(signal);
    this.knowledge.learnRunning(runner.server, running);
    return this.#toModels(runner, { models: running, running });
  }

  async show(runner: Runner, model: string, signal: AbortSignal): Promise<ShowModelResult> {
    checkModelName(runner, model);
    const find = (listed: ModelSnapshot | undefined) =>
      listed?.models.find(({ name }) => modelKey(name) === modelKey(model));
    const fresh = this.#freshList(runner);
    const [shown, listed] = await Promise.all([
      runner.show(model, signal),
      // The details of several models, one after another, need the list once.
      (fresh && find(fresh)
        ? this.#withRunning(fresh, runner, signal)
        : this.#fetchList(runner, signal)
      ).catch(() => undefined),
    ]);
    this.knowledge.learnShown(runner.server, model, shown);
    const wire = find(listed) ?? shownAsListed(model, shown);
    const [known] = this.#toModels(runner, { models: [wire], running: listed?.running ?? [] });
    const { template, parameters, system, license, modelfile } = shown;
    return withoutUndefined({
      model: known ?? toModel(wire, runner.server, this.knowledge),
      template,
      parameters: parameters === undefined ? undefined : parseParameters(parameters),
      system,
      license,
      modelfile,
    });
  }

  /**
   * The model with this name, in its current state.
   * @throws {RunnerError} `model-not-found`.
   */
  async find(runner: Runner, model: string, signal: AbortSignal): Promise<Model> {
    const models = this.#toModels(runner, await this.#fetchList(runner, signal));
    const found = models.find(({ name }) => modelKey(name) === modelKey(model));
    if (found) return found;
    throw new RunnerError(
      'model-not-found',
      `The model ${model} is not installed on ${runner.server.url}. ${runner.pull ? 'Pull it, or choose' : 'Choose'} one of the installed models.`,
      { details: { server: runner.server.name, model } },
    );
  }

  /** The names of the installed models; empty if the server does not answer and never has. */
  async names(runner: Runner, signal: AbortSignal): Promise<readonly string[]> {
    try {
      const { models } = await this.list(runner, {}, signal);
      return models.map(({ name }) => name);
    } catch (error) {
      if (signal.aborted || !(error instanceof RunnerError)) throw error;
      return [];
    }
  }

  /** Whether the model is known to embed and is not known to chat. */
  onlyEmbeds(runner: Runner, model: string): boolean {
    const { completion, embedding } = this.knowledge.about(runner.server, model).capabilities;
    return embedding.value === true && completion.value !== true;
  }

  /** Whether a user can talk to it, as far as its template says. If the runner does not say, turns count as written. */
  async turns(runner: Runner, model: string, signal: AbortSignal): Promise<Turns> {
    if (!this.knowledge.isShown(runner.server, model)) await this.#learnShown(runner, model, signal);
    return this.knowledge.turns(runner.server, model) ?? 'written';
  }

  /** Discards the kept list, because it has changed. */
  forgetList(runner: Runner): void {
    const known = this.#lists.get(runner.server.url);
    if (known) this.#lists.set(runner.server.url, { ...known, at: Number.NEGATIVE_INFINITY });
  }

  /** Asks the runner for these capabilities if they are not known. A failure leaves them unknown. */
  async learn(
    runner: Runner,
    model: string,
    names: readonly CapabilityName[],
    signal: AbortSignal,
  ): Promise<void> {
    const isUnknown = (name: CapabilityName) => {
      const { value, from } = this.knowledge.capability(runner.server, model, name);
      // What the user says of one capability leaves the model unexamined.
      return value === 'unknown' || from === 'name' || from === 'configured';
    };
    if (!this.knowledge.isShown(runner.server, model) && names.some(isUnknown))
      await this.#learnShown(runner, model, signal);
  }

  async #withRunning(listed: ModelSnapshot, runner: Runner, signal: AbortSignal): Promise<ModelSnapshot> {
    const running = await runner.running(signal);
    this.knowledge.learnRunning(runner.server, running);
    return { ...listed, running };
  }

  #freshList(runner: Runner): ModelSnapshot | undefined {
    const known = this.#lists.get(runner.server.url);
    return known && this.now() - known.at < freshFor ? known : undefined;
  }

  async #fetchList(runner: Runner, signal: AbortSignal): Promise<ModelSnapshot> {
    const [list, running] = await Promise.all([runner.list(signal), runner.running(signal)]);
    const { models } = list;
    this.knowledge.learnListed(runner.server, models);
    this.knowledge.learnRunning(runner.server, running);
    await this.#learnUnlisted(runner, models, signal);
    const listed = { ...list, models: newestFirst(models), running, at: this.now() };
    const before = this.#lists.get(runner.server.url);
    this.#lists.set(runner.server.url, listed);
    // What made a list be forgotten has been reported already.
    const isUnexpected = before !== undefined && Number.isFinite(before.at) && !hasSameModels(before, listed);
    if (isUnexpected) this.#changed.fire();
    return listed;
  }

  /** If a server does not list capabilities, each model is examined once for each digest. */
  async #learnUnlisted(runner: Runner, models: readonly ListedModel[], signal: AbortSignal): Promise<void> {
    const unknown = models.filter(
      ({ name, capabilities }) => !capabilities && !this.knowledge.isShown(runner.server, name),
    );
    await this.#learnAll(runner, unknown.slice(0, maxShown), signal);
  }

  /** Some lists leave tools out. Then only the details of a model say whether it supports them. */
  async #examine(runner: Runner, models: readonly Model[], signal: AbortSignal): Promise<void> {
    const unknown = models.filter(
      (model) =>
        canChat(model) &&
        model.capabilities.tools.value === 'unknown' &&
        !this.knowledge.isShown(runner.server, model.name),
    );
    await this.#learnAll(runner, unknown.slice(0, maxExamined), signal);
  }

  async #learnAll(
    runner: Runner,
    models: readonly { readonly name: string }[],
    signal: AbortSignal,
  ): Promise<void> {
    const queue = [...models];
    const work = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        // If the runner is down, it is not asked about the rest.
        if (!(await this.#learnShown(runner, next.name, signal))) queue.length = 0;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }

  /** False if the runner is down. */
  async #learnShown(runner: Runner, model: string, signal: AbortSignal): Promise<boolean> {
    try {
      this.knowledge.learnShown(runner.server, model, await runner.show(model, signal));
      return true;
    } catch (error) {
      if (signal.aborted || !(error instanceof RunnerError)) throw error;
      return !isDown(error);
    }
  }

  #toModels(runner: Runner, { models, running }: Pick<ModelSnapshot, 'models' | 'running'>): Model[] {
    const loaded = new Map(running.map((model) => [modelKey(model.name), model]));
    // A key costs more than the rest of a row, and usually nothing is loaded.
    const stateOf = ({ name }: ListedModel) => (loaded.size === 0 ? undefined : loaded.get(modelKey(name)));
    return models.map((model) => withRunning(toModel(model, runner.server, this.knowledge), stateOf(model)));
  }
}

/** `refresh` asks even if a list is fresh; `examine` also asks about models whose tool support is not known. */
export type ListChoice = Pick<ListModelsParams, 'refresh' | 'examine'>;

interface ModelSnapshot extends ModelList {
  readonly running: readonly ListedModel[];
  readonly at: number;
}

/** Both lists are sorted. */
function hasSameModels({ models }: ModelList, { models: others }: ModelList): boolean {
  return (
    models.length === others.length &&
    models.every(({ name, digest }, index) => name === others[index]?.name && digest === others[index].digest)
  );
}

/** The runner counts in seconds and lists models of the same second in any order. Here they are sorted by name. */
function newestFirst(models: readonly ListedModel[]): readonly ListedModel[] {
  const dated = models.map((model) => ({ model, second: secondOf(model) }));
  dated.sort((a, b) => b.second - a.second || (a.model.name < b.model.name ? -1 : 1));
  return dated.map(({ model }) => model);
}

function secondOf({ modifiedAt }: ListedModel): number {
  return modifiedAt === undefined ? 0 : Math.floor(Date.parse(modifiedAt) / 1_000);
}

function isDown(error: unknown): boolean {
  return error instanceof RunnerError && error.data.retryable;
}

/** How long changes are collected before they are published, in ms. */
const gatherFor = 100;

export type ModelChanges = ReturnType<typeof createModelChanges>;

/** Publishes that models changed. Many changes at once are published as one. */
export function createModelChanges(closed: AbortSignal) {
  const changed = createEmitter<void>();
  let timer: NodeJS.Timeout | undefined;
  closed.addEventListener('abort', () => clearTimeout(timer), { once: true });
  return {
    onDidChange: changed.event,
    note(): void {
      if (closed.aborted) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        changed.fire();
      }, gatherFor);
    },
  };
}
