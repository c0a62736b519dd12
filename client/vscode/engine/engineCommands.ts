import * as vscode from 'vscode';
import { formatBytes } from '../../../protocol/base/text.ts';
import {
  type EngineFetch,
  type EngineOffers,
  type EngineStatus,
  type EngineWay,
  engineInstallRequest,
  engineOffersRequest,
  engineRemoveRequest,
  engineSampleRequest,
  engineStartRequest,
  engineStatusRequest,
  engineStopRequest,
} from '../../../protocol/messages/engine.ts';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messages/messageTypes.ts';
import { statusRequest } from '../../../protocol/messages/status.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { followStatus } from '../daemon/serverFacts.ts';
import { ollamaHost } from '../daemon/servers.ts';
import { inStatusBar, runWork } from '../models/work.ts';
import { readSettings, updateSetting } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { plain } from '../ui/safeText.ts';

/** Whether something runs that Runner has started. */
export type EngineCommands = ReturnType<typeof registerEngineCommands>;

/** The commands for a model on this machine. Those that end something are offered only while there is something. */
export function registerEngineCommands(daemon: DaemonConnection, reporter: ErrorReporter) {
  let isRunning = false;
  const look = async () => {
    const status = await daemon.request(engineStatusRequest, {});
    isRunning = status.state === 'running';
    setContext('hasStarted', isRunning);
    setContext('hasFetched', status.isInstalled || status.sample !== undefined);
  };
  // A daemon that does not answer is reported elsewhere.
  const lookAgain = () => void look().catch(() => undefined);
  const commands: Readonly<Record<string, () => Promise<unknown>>> = {
    'runner.startModelHere': () => startModelHere(daemon),
    'runner.stopModelHere': () => stop(daemon),
    'runner.removeFetched': () => remove(daemon),
  };
  const subscriptions = vscode.Disposable.from(
    daemon.onDidConnect(lookAgain),
    followStatus(daemon, { onDidTurn: lookAgain, onDidAnswer: () => undefined }),
    // A part may be there also if it fails.
    ...Object.entries(commands).map(([id, run]) =>
      reporter.registerCommand(id, () => run().finally(lookAgain)),
    ),
  );
  return {
    get isRunning() {
      return isRunning;
    },
    dispose: () => subscriptions.dispose(),
  };
}

function setContext(key: 'hasStarted' | 'hasFetched', value: boolean): void {
  void vscode.commands.executeCommand('setContext', `runner.${key}`, value);
}

async function stop(daemon: DaemonConnection): Promise<void> {
  const stopping = inStatusBar('Stopping the model here', () => daemon.request(engineStopRequest, {}));
  const { wasRunning } = await stopping;
  say(wasRunning ? 'It is stopped.' : 'Nothing that Runner started was running.');
}

async function remove(daemon: DaemonConnection): Promise<void> {
  const { state } = await daemon.request(engineStatusRequest, {});
  const detail = `The engine and the small model are deleted.${state === 'running' ? ' What runs is stopped first.' : ''} To use them again, they are downloaded again.`;
  const yes = 'Delete';
  const question = 'Delete what Runner has fetched to run a model here?';
  if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) !== yes) return;
  const { wasThere } = await daemon.request(engineRemoveRequest, {});
  say(wasThere ? 'The engine and the small model are deleted.' : 'Nothing was there.');
}

function say(sentence: string): void {
  void vscode.window.showInformationMessage(sentence);
}

/**
 * Offers what there is on this machine to someone without a runner, and starts what is chosen. Whatever is fetched for
 * that was agreed to. The result says whether a model server runs that Runner uses.
 */
async function startModelHere(daemon: DaemonConnection): Promise<boolean> {
  const title = 'Looking at what can be started here';
  const offers = await inStatusBar(title, () => daemon.request(engineOffersRequest, {}));
  const way = await chooseWay(offers);
  if (!way) return false;
  const { host } = readSettings();
  refuseBesideEnvironment(way, ollamaHost());
  if (!(await agrees(way, host))) return false;
  const started = await fetchAndStart(daemon, way);
  if (!started) return false;
  await makeUsual(daemon);
  void offerChat(started);
  return true;
}

async function chooseWay(offers: EngineOffers): Promise<EngineWay | undefined> {
  const icon = (choice: WayChoice) => new vscode.ThemeIcon(choice.way ? 'play' : 'link-external');
  const items = wayChoices(offers).map((choice) => ({ ...choice, iconPath: icon(choice) }));
  const { ways, library, sample } = offers;
  const problem = ways.length > 0 ? undefined : (library.problem ?? sample.problem);
  // A list would cut it.
  if (problem !== undefined) void vscode.window.showWarningMessage(plain(problem));
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Start a Model on This Machine',
    placeHolder: 'Nothing is fetched or started before you choose.',
    ignoreFocusOut: true,
  });
  if (chosen && !chosen.way) await vscode.env.openExternal(vscode.Uri.parse(ollamaPage));
  return chosen?.way;
}

async function offerChat({ message }: EngineStatus): Promise<void> {
  const [ask, keep] = ['Ask @runner', 'Keep It Running'];
  const isKept = readSettings().engine?.keepRunning === true;
  const life = isKept ? '' : ' It ends with the last program that uses it.';
  const buttons = isKept ? [ask] : [ask, keep];
  const chosen = await vscode.window.showInformationMessage(plain(message + life), ...buttons);
  if (chosen === keep) await updateSetting('engine.keepRunning', true);
  if (chosen !== ask) return;
  const query = { query: '@runner ', isPartialQuery: true };
  await vscode.commands.executeCommand('workbench.action.chat.open', query);
}

/** @throws {Error} with a sentence: an editor cannot change its own environment. Ollama gets an address that counts. */
function refuseBesideEnvironment({ start }: EngineWay, named: string): void {
  if (named === '' || start.product === 'ollama') return;
  throw new Error(
    `OLLAMA_HOST names ${named}, and what is started here is used only without it. Remove it from the environment of the editor, and start the editor again.`,
  );
}

const fetching: Readonly<Record<EngineFetch['what'], [string, RequestMessage<WorkDoneParams, object>]>> = {
  library: ['Fetching the engine', engineInstallRequest],
  sample: ['Fetching a small model', engineSampleRequest],
};

/** Undefined if it was cancelled. What was fetched whole by then stays, and is not fetched again. */
async function fetchAndStart(
  daemon: DaemonConnection,
  { fetches, start }: EngineWay,
): Promise<EngineStatus | undefined> {
  for (const { what } of fetches) {
    const [title, request] = fetching[what];
    if (!(await runWork(daemon, title, [request, {}]))) return undefined;
  }
  return runWork(daemon, 'Starting a model here', [engineStartRequest, start]);
}

/** A runner that the setting names comes first, as long as it is set. The user has agreed that it is not. */
async function makeUsual(daemon: DaemonConnection): Promise<void> {
  const { state } = await daemon.request(statusRequest, {});
  const { host, api } = readSettings();
  if (state !== 'offline' || host === undefined) return;
  // It was about the former runner.
  if (api !== undefined) await updateSetting('api', undefined);
  await updateSetting('host', undefined);
}

/** An entry of the list of ways to a model on this machine. */
interface WayChoice {
  readonly label: string;
  readonly detail: string;
  /** Absent: the page from which Ollama can be got. */
  readonly way?: EngineWay;
}

const ollamaPage = 'https://ollama.com/download';

/** What the daemon offers, and how to get a runner of one's own. */
function wayChoices({ ways }: Pick<EngineOffers, 'ways'>): readonly WayChoice[] {
  const offered = ways.map((way) => ({
    label: way.label.charAt(0).toUpperCase() + way.label.slice(1),
    detail:
      way.fetches.length === 0
        ? 'Everything for it is on this machine.'
        : `Fetches ${sizeOf(way)} first. You are asked again, with the sources and the licenses.`,
    way,
  }));
  if (ways.some(({ start }) => start.product === 'ollama')) return offered;
  const detail = 'Opens its page. Once it is installed, its models are found by themselves.';
  return [...offered, { label: 'Get Ollama', detail }];
}

/**
 * Whether the user agrees to the way, after choosing it; some need no second question. `host` is the address that the
 * setting names: what is started here would not be used beside it.
 */
async function agrees(way: EngineWay, host: string | undefined): Promise<boolean> {
  const { fetches, warning } = way;
  if (fetches.length === 0 && host === undefined) return true;
  const cleared = `The setting runner.host names ${host}. It is cleared once the model runs, because it would come first.`;
  const ask = async (message: string, parts: readonly string[], yes: string) => {
    const detail = [...parts, ...(host === undefined ? [] : [cleared])].join('\n\n');
    return (await vscode.window.showInformationMessage(message, { modal: true, detail }, yes)) === yes;
  };
  if (fetches.length === 0) return ask('Start it in the place of the runner that is set?', [], 'Start');
  const parts = [
    ...(warning === undefined ? [] : [warning]),
    ...fetches.map(({ description }) => description),
    '"Runner: Delete What Was Fetched" deletes all of it again.',
  ];
  return ask(`Fetch ${sizeOf(way)}, and start a model here?`, parts, 'Fetch and Start');
}

function sizeOf({ fetches }: EngineWay): string {
  return formatBytes(fetches.reduce((sum, { bytes }) => sum + bytes, 0));
}
