import * as vscode from 'vscode';
import { defaultServerName } from '../../../protocol/initialize.ts';
import {
  listModelsRequest,
  type Model,
  modelsDidChange,
  showModelRequest,
} from '../../../protocol/models.ts';
import { statusDidChange } from '../../../protocol/status.ts';
import { canChat, type RunnerModelInformation, toModelInformation } from '../convert/modelInformation.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { serverNames } from '../daemon/servers.ts';
import { contextLength, readSettings } from '../settings.ts';

/** The models that the editor's picker offers: those of all servers; of one that is down, those that it had last. */
export interface OfferedModels extends vscode.Disposable {
  readonly onDidChange: vscode.Event<void>;
  /** At once, without asking the runner. */
  readonly current: readonly RunnerModelInformation[];
  /** The model that answers where the user chose none of ours: of this machine's one that is loaded, else the newest. */
  readonly preferred: Model | undefined;
  refresh(): Promise<void>;
}

const memoryKey = 'runner.lastModels';
const idsKey = 'runner.offeredIds';
/** How many models that are gone are offered all the same. */
const mostGone = 5;

export function createOfferedModels(
  daemon: DaemonConnection,
  memory: vscode.Memento,
  log: vscode.LogOutputChannel,
): OfferedModels {
  const changed = new vscode.EventEmitter<void>();
  let models = memory.get<readonly Model[]>(memoryKey) ?? [];
  /** Names of servers whose models are the last known ones; before the first answer that is each. */
  let stale: ReadonlySet<string> = new Set(serverNames(readSettings()));
  const remembered = memory.get<readonly string[]>(idsKey) ?? [];
  let kept = remembered;
  /** With the newest of those that were offered before, which the picker may hold on to. */
  const remember = (here: ReadonlySet<string>) => {
    const ids = [...here, ...kept.filter((id) => !here.has(id)).slice(0, mostGone)];
    if (ids.join(' ') === kept.join(' ')) return;
    kept = ids;
    void memory.update(idsKey, ids);
  };
  let asked = 0;

  const modelsOf = async (server: string): Promise<ServerModels> => {
    try {
      const result = await daemon.request(listModelsRequest, { server, refresh: true });
      if (result.stale) return { server, models: result.models, isStale: true };
      return { server, models: await examined(daemon, result.models), isStale: false };
    } catch (error) {
      // The status bar says why; here the last known models stay.
      log.debug(`The models of ${server} are not known: ${String(error)}`);
      return { server, models: models.filter((model) => model.server === server), isStale: true };
    }
  };
  const refresh = async () => {
    const turn = ++asked;
    const answers = await Promise.all(serverNames(readSettings()).map(modelsOf));
    if (turn !== asked) return;
    models = answers.flatMap((answer) => answer.models);
    stale = new Set(answers.filter(({ isStale }) => isStale).map(({ server }) => server));
    if (stale.size < answers.length) void memory.update(memoryKey, models);
    changed.fire();
  };
  const subscriptions = [
    changed,
    daemon.onDidConnect(() => void refresh()),
    vscode.workspace.onDidChangeConfiguration(({ affectsConfiguration }) => {
      if (affectsConfiguration('runner.host') || affectsConfiguration('runner.servers')) void refresh();
      else if (affectsConfiguration('runner.contextLength')) changed.fire();
    }),
    daemon.onNotification(modelsDidChange, () => void refresh()),
    daemon.onNotification(statusDidChange, ({ state }) => {
      if (state === 'checking') return;
      if ((state === 'offline') !== stale.has(defaultServerName)) void refresh();
    }),
  ];

  return {
    onDidChange: changed.event,
    get current() {
      const options = { isStale: (server: string) => stale.has(server), contextLength: contextLength() };
      const offered = toModelInformation(models, options);
      const wanted = needsPlaceholder(offered) ? [...offered, placeholder(models.some(canChat))] : offered;
      const here = new Set(wanted.map(({ id }) => id));
      // The picker remembers what was chosen in an earlier window, and without it no question would reach anybody.
      const gone = remembered.filter((id) => !here.has(id)).slice(0, mostGone);
      remember(here);
      return [...wanted, ...gone.map(substitute)];
    },
    get preferred() {
      // What runs elsewhere answers only who chose it.
      const able = models.filter((model) => canChat(model) && !model.remote);
      return able.find(({ running }) => running !== undefined) ?? able[0];
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
  readonly isStale: boolean;
}

/** More models than this are offered as the list has them. */
const mostExamined = 100;

/**
 * With what each can do. A runner's list may leave tools out, and then only its details say whether a model takes them;
 * the daemon keeps the answer, so that each model is asked about once.
 */
async function examined(daemon: DaemonConnection, models: readonly Model[]): Promise<readonly Model[]> {
  const unknown = models.filter((model) => canChat(model) && model.capabilities.tools.value === 'unknown');
  const answers = new Map<Model, Model>();
  try {
    for (const model of unknown.slice(0, mostExamined)) {
      const { name, server } = model;
      const { capabilities, context } = (await daemon.request(showModelRequest, { model: name, server }))
        .model;
      answers.set(model, { ...model, capabilities, context });
    }
  } catch {
    // A runner that cannot say it now is not asked about the rest; what it refuses is learnt when it does.
  }
  return models.map((model) => answers.get(model) ?? model);
}

/** The agent lists only models with tools, and without any model `@runner` could not even say why. */
function needsPlaceholder(offered: readonly RunnerModelInformation[]): boolean {
  return !offered.some(({ capabilities }) => capabilities.toolCalling);
}

/** For one that was offered in an earlier window: whoever chose it is answered by the one that is there. */
function substitute(id: string): RunnerModelInformation {
  return {
    ...placeholder(true),
    ...{ id, name: id === placeholderId ? 'Runner: any model' : id },
    detail: id === placeholderId ? '' : 'not installed',
    tooltip: 'Another one answers: of your machine, one that is loaded, else the newest.',
  };
}

const placeholderId = 'none';

function placeholder(hasModels: boolean): RunnerModelInformation {
  return {
    id: placeholderId,
    name: hasModels ? 'Runner: no model with tools' : 'Runner: no model yet',
    family: 'none',
    version: '0',
    maxInputTokens: 4096,
    maxOutputTokens: 4096,
    capabilities: { toolCalling: true },
    tooltip: hasModels
      ? 'None of your models takes tools. Ask @runner, or pull a model that does.'
      : 'Start your runner, or pull a model.',
  };
}
