import * as vscode from 'vscode';
import { preferredModel } from '../../../protocol/messages/choice.ts';
import { defaultServerName } from '../../../protocol/messages/initialize.ts';
import { listModelsRequest, type Model, modelsDidChange } from '../../../protocol/messages/models.ts';
import { statusDidChange } from '../../../protocol/messages/status.ts';
import { createUsualContextSizes } from '../convert/contextSizes.ts';
import { type Failure, toFailure } from '../convert/failure.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { serverNames } from '../daemon/servers.ts';
import { contextLength, readSettings } from '../settings.ts';
import type { Consent } from './consent.ts';
import { type RunnerModelInformation, toPickerEntries } from './pickerEntries.ts';

/** The models in the editor's picker: those of all servers. A server that is down keeps its last known models. */
export interface OfferedModels extends vscode.Disposable {
  readonly onDidChange: vscode.Event<void>;
  /** The current list, without a request to the runner. */
  readonly current: readonly RunnerModelInformation[];
  /** The model that answers if the user chose none of ours: a loaded one on this machine, or else the newest. */
  readonly preferred: Model | undefined;
  /** Without a server, the default one is meant. */
  find(name: string, server?: string): Model | undefined;
  /** The same, with a new list if the last one does not have the model. */
  lookUp(name: string, server?: string): Promise<Model | undefined>;
  /** Models of all servers, including ones that cannot chat. */
  readonly models: readonly Model[];
  /** Why the models of a server, by its name, are the last known ones. */
  readonly failures: ReadonlyMap<string, Failure>;
  refresh(): Promise<void>;
}

const memoryKey = 'runner.lastModels';
const idsKey = 'runner.offeredIds';

export interface OfferedModelsParts {
  readonly daemon: DaemonConnection;
  readonly memory: vscode.Memento;
  readonly consent: Consent;
  readonly log: vscode.LogOutputChannel;
}

export function createOfferedModels({ daemon, memory, consent, log }: OfferedModelsParts): OfferedModels {
  const changed = new vscode.EventEmitter<void>();
  const sizes = createUsualContextSizes(memory);
  let models = memory.get<readonly Model[]>(memoryKey) ?? [];
  /** Until the first answer, every server counts as stale. */
  let failures: ReadonlyMap<string, Failure> = new Map(
    serverNames(readSettings()).map((name) => [name, { sentence: 'not asked yet' }]),
  );
  /** The ids that were offered before: the picker may still have one of them chosen. */
  let remembered = memory.get<readonly string[]>(idsKey) ?? [];
  const offer = () => {
    const options = {
      isStale: (server: string) => failures.has(server),
      sizing: { contextLength: contextLength(), usual: sizes.of },
    };
    return toPickerEntries(models, { ...options, remembered, isAllowed: consent.isAllowed });
  };
  let current = offer();
  const publish = () => {
    current = offer();
    changed.fire();
  };
  const remember = () => {
    const ids = current.map(({ id }) => id);
    if (ids.join(' ') === remembered.join(' ')) return;
    remembered = ids;
    void memory.update(idsKey, ids);
  };
  let asked = 0;

  const modelsOf = async (server: string): Promise<ServerModels> => {
    try {
      // A list may leave tools out, and the picker offers agents only models with tools.
      const result = await daemon.request(listModelsRequest, { server, refresh: true, examine: true });
      const { models: listed, stale } = result;
      return {
        server,
        models: listed,
        ...(stale && { failure: { kind: 'server-unreachable', sentence: '' } }),
      };
    } catch (error) {
      // The status bar reports the reason; here the last known models stay.
      log.debug(`The models of ${server} are not known: ${String(error)}`);
      return { server, models: models.filter((model) => model.server === server), failure: toFailure(error) };
    }
  };
  const refresh = async () => {
    const turn = ++asked;
    const answers = await Promise.all(serverNames(readSettings()).map(modelsOf));
    if (turn !== asked) return;
    models = answers.flatMap((answer) => answer.models);
    failures = new Map(
      answers.flatMap(({ server, failure }) => (failure ? [[server, failure] as const] : [])),
    );
    if (failures.size < answers.length) void memory.update(memoryKey, models);
    // If the settings have a size, the server allocates that.
    if (contextLength() === 0) sizes.learn(models);
    publish();
    remember();
  };
  const subscriptions = [
    changed,
    daemon.onDidConnect(() => void refresh()),
    consent.onDidAllow(() => {
      publish();
      remember();
    }),
    vscode.workspace.onDidChangeConfiguration(({ affectsConfiguration }) => {
      if (affectsConfiguration('runner.host') || affectsConfiguration('runner.servers')) void refresh();
      else if (affectsConfiguration('runner.contextLength')) publish();
    }),
    daemon.onNotification(modelsDidChange, () => void refresh()),
    daemon.onNotification(statusDidChange, ({ state }) => {
      if (state === 'checking') return;
      if ((state === 'offline') !== failures.has(defaultServerName)) void refresh();
    }),
  ];

  const find: OfferedModels['find'] = (name, server = defaultServerName) =>
    models.find((model) => model.name === name && model.server === server);

  return {
    onDidChange: changed.event,
    get current() {
      return current;
    },
    get preferred() {
      return preferredModel(models);
    },
    find,
    async lookUp(name, server) {
      if (!find(name, server)) await refresh();
      return find(name, server);
    },
    get models() {
      return models;
    },
    get failures() {
      return failures;
    },
    refresh,
    dispose: () => {
      for (const subscription of subscriptions) subscription.dispose();
    },
  };
}

interface ServerModels {
  readonly server: string;
  readonly models: readonly Model[];
  readonly failure?: Failure;
}
