import * as vscode from 'vscode';
import {
  listModelsRequest,
  type Model,
  modelsDidChange,
  preferredModel,
} from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { statusDidChange } from '../../../protocol/messages/status.ts';
import {
  type ContextSizing,
  contextSizeOf,
  createUsualContextSizes,
  isAssumedSize,
} from '../convert/contextSizes.ts';
import { type Failure, toFailure } from '../convert/failure.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { serverNames } from '../daemon/servers.ts';
import { contextLength, readSettings } from '../settings.ts';
import type { Consent } from './consent.ts';
import { type createOfferedIds, type RunnerModelInformation, toPickerEntries } from './picker.ts';

/** In tokens: what Ollama allocates if it has little memory. */
const usuallyAllocated = 4_096;

interface OfferedModelsOptions {
  readonly daemon: DaemonConnection;
  readonly memory: vscode.Memento;
  readonly ids: ReturnType<typeof createOfferedIds>;
  readonly consent: Consent;
  readonly log: vscode.LogOutputChannel;
}

const memoryKey = 'runner.lastModels';

/** The models in the editor's picker: those of all servers. A server that is down keeps its last known models. */
export class OfferedModels implements vscode.Disposable {
  readonly #options: OfferedModelsOptions;
  readonly #sizes: ReturnType<typeof createUsualContextSizes>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: vscode.Disposable;
  #models: readonly Model[];
  /** Until the first answer, every server counts as stale. */
  #failures: ReadonlyMap<string, Failure>;
  #current: readonly RunnerModelInformation[];
  #refreshes = 0;

  constructor(options: OfferedModelsOptions) {
    const { daemon, memory, consent } = options;
    this.#options = options;
    this.#sizes = createUsualContextSizes(memory);
    this.#models = memory.get<readonly Model[]>(memoryKey) ?? [];
    this.#failures = new Map(
      serverNames(readSettings()).map((name) => [name, { sentence: 'not asked yet' }]),
    );
    this.#current = this.#entries();
    this.#subscriptions = vscode.Disposable.from(
      this.#changed,
      daemon.onDidConnect(() => void this.refresh()),
      consent.onDidAllow(() => {
        this.#publish();
        this.#remember();
      }),
      vscode.workspace.onDidChangeConfiguration(({ affectsConfiguration }) => {
        if (affectsConfiguration('runner.host') || affectsConfiguration('runner.servers'))
          void this.refresh();
        else if (affectsConfiguration('runner.contextLength')) this.#publish();
      }),
      daemon.onNotification(modelsDidChange, () => void this.refresh()),
      daemon.onNotification(statusDidChange, ({ state }) => {
        if (state === 'checking') return;
        if ((state === 'offline') !== this.#failures.has(defaultServerName)) void this.refresh();
      }),
    );
  }

  /** The entries of the picker, without a request to the runner. */
  get current(): readonly RunnerModelInformation[] {
    return this.#current;
  }

  /** The model that answers if the user chose none of ours: a loaded one on this machine, or else the newest. */
  get preferred(): Model | undefined {
    return preferredModel(this.#models);
  }

  /** Models of all servers, including ones that cannot chat. */
  get models(): readonly Model[] {
    return this.#models;
  }

  /** Why the models of a server, by its name, are the last known ones. */
  get failures(): ReadonlyMap<string, Failure> {
    return this.#failures;
  }

  find(name: string, server = defaultServerName): Model | undefined {
    return this.#models.find((model) => model.name === name && model.server === server);
  }

  /** The window that a model has or gets, in tokens; what runners usually allocate, where nothing is known. */
  windowOf(name: string, server?: string): number {
    const model = this.find(name, server);
    const sizing = this.#sizing();
    return model && !isAssumedSize(model, sizing) ? contextSizeOf(model, sizing) : usuallyAllocated;
  }

  /** The same, with a new list if the last one does not have the model. */
  async lookUp(name: string, server?: string): Promise<Model | undefined> {
    if (!this.find(name, server)) await this.refresh();
    return this.find(name, server);
  }

  /** Asks all servers for their models. A newer refresh replaces an older one. */
  async refresh(): Promise<void> {
    const turn = ++this.#refreshes;
    const answers = await Promise.all(serverNames(readSettings()).map((server) => this.#ask(server)));
    if (turn !== this.#refreshes) return;
    this.#models = answers.flatMap(({ models }) => models);
    this.#failures = new Map(
      answers.flatMap(({ server, failure }) => (failure ? [[server, failure] as const] : [])),
    );
    if (this.#failures.size < answers.length) void this.#options.memory.update(memoryKey, this.#models);
    // If the settings have a size, the server allocates that.
    if (contextLength() === 0) this.#sizes.learn(this.#models);
    this.#publish();
    this.#remember();
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  async #ask(server: string): Promise<{ server: string; models: readonly Model[]; failure?: Failure }> {
    const { daemon, log } = this.#options;
    try {
      // A list may leave tools out, and the picker offers agents only models with tools.
      const result = await daemon.request(listModelsRequest, { server, refresh: true, examine: true });
      const { models, stale } = result;
      return { server, models, ...(stale && { failure: { kind: 'server-unreachable', sentence: '' } }) };
    } catch (error) {
      // The status bar reports the reason; here the last known models stay.
      log.debug(`The models of ${server} are not known: ${String(error)}`);
      const known = this.#models.filter((model) => model.server === server);
      return { server, models: known, failure: toFailure(error) };
    }
  }

  #entries(): readonly RunnerModelInformation[] {
    return toPickerEntries(this.#models, {
      isStale: (server) => this.#failures.has(server),
      sizing: this.#sizing(),
      remembered: this.#options.ids.last,
      isAllowed: this.#options.consent.isAllowed,
    });
  }

  #sizing(): ContextSizing {
    return { contextLength: contextLength(), usual: this.#sizes.of };
  }

  #publish(): void {
    this.#current = this.#entries();
    this.#changed.fire();
  }

  #remember(): void {
    const { ids, log } = this.#options;
    ids
      .keep(this.#current.map(({ id }) => id))
      .catch((error) => log.debug(`The models of the picker are not kept: ${error}`));
  }
}
