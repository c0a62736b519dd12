import * as vscode from 'vscode';
import { messageOf } from '../../../protocol/base/text.ts';
import { type EngineStatus, engineStatusRequest } from '../../../protocol/messages/engine.ts';
import { canChat, listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { nameAfter, statusRequest } from '../../../protocol/messages/status.ts';
import { errorDataOf, versionOf } from '../convert/failure.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import type { ServerFactsStore } from '../daemon/serverFacts.ts';
import { possible, serverNames } from '../daemon/servers.ts';
import { idOf, isSameModel } from '../models/modelRow.ts';
import { inStatusBar } from '../models/work.ts';
import type { Parts } from '../parts.ts';
import { chatModel, completionModel, readSettings, settingProblems } from '../settings.ts';
import type { PageContent, PageLine, PageSection } from '../ui/page.ts';
import {
  chooseAnotherModel,
  chooseChatModel,
  inEditorWords,
  letPickerDecide,
  openModelPicker,
  openNamedSetting,
  openSetting,
  pullModel,
  type Remedy,
  remediesFor,
  remediesForOffline,
  showDoctor,
  startModelHere,
} from '../ui/remedies.ts';
import { WebPage } from '../ui/webPage.ts';

/** Shows a page that says what is reachable, installed and wrong, with the links that fix it. */
export function registerDoctor(
  { changes, daemon, facts }: Pick<Parts, 'changes' | 'daemon' | 'facts'>,
  version: string,
): vscode.Disposable {
  const page = new WebPage('runner.doctor', changes.onDidChange);
  return vscode.Disposable.from(
    page,
    vscode.commands.registerCommand('runner.doctor', () =>
      inStatusBar('Examining', () => page.show(() => examine(daemon, facts, version))),
    ),
  );
}

async function examine(
  daemon: DaemonConnection,
  facts: ServerFactsStore,
  version: string,
): Promise<PageContent> {
  const trust = vscode.workspace.isTrusted ? 'trusted' : 'not trusted';
  const servers = await Promise.all(
    serverNames(readSettings()).map(async (server) => {
      const section = await examineServer(daemon, server);
      return {
        ...section,
        lines:
          section.lines?.map(({ links = [], ...line }) => ({ ...line, links: possible(facts, links) })) ?? [],
      };
    }),
  );
  const links = [
    { title: 'Examine Again', command: 'runner.doctor' },
    { title: 'Show Log', command: 'runner.showLog' },
  ];
  // A daemon that does not answer is named with each server.
  const engine = await daemon.request(engineStatusRequest, {}).then(adviseOnEngine, () => []);
  const wrong = settingProblems().map(([name, problem]) => ({
    state: 'bad' as const,
    text: `${name}${problem}. It is left out.`,
    links: [openSetting(name)],
  }));
  const about = { text: `Runner ${version}, editor ${vscode.version}, workspace ${trust}`, links };
  return {
    title: 'Runner Doctor',
    sections: [{ lines: [about, ...wrong] }, ...servers, ...engine],
  };
}

/** The setting of the chat names a model of any server, that of completion one of the default server. */
async function examineServer(daemon: DaemonConnection, server: string): Promise<PageSection> {
  const isDefault = server === defaultServerName;
  const heading = isDefault ? 'The runner' : `The server ${server}`;
  try {
    const status = await daemon.request(statusRequest, { server });
    const { state, kind, can } = status;
    const reached: PageLine = {
      state: kind === 'ok' ? 'good' : 'bad',
      text: [inEditorWords(status, server), versionOf(status), nameAfter(status)].filter(Boolean).join(' '),
      ...(state === 'offline'
        ? { links: [again, ...remediesForOffline(status, server).filter((one) => one !== showDoctor)] }
        : {}),
    };
    const { models, stale } = await daemon.request(listModelsRequest, { server, refresh: true });
    const canPull = can?.includes('pull') ?? true;
    const about = { all: models.length, isStale: stale === true, canPull };
    const chatServer = serverNames(readSettings()).find((name) => chatModel().startsWith(`${name}/`));
    const uses = [
      ...(server === (chatServer ?? defaultServerName) ? adviseOnChat(models, chatModel()) : []),
      ...(isDefault ? adviseOnCompletion(models, completionModel()) : []),
    ];
    return { heading, lines: [reached, ...adviseOnModels(models.filter(canChat), about), ...uses] };
  } catch (error) {
    return { heading, lines: [{ state: 'bad', text: messageOf(error), links: adviseOnFailure(error) }] };
  }
}

/** Lines about the models that can chat, of `all` that are installed. */
function adviseOnModels(
  models: readonly Model[],
  { all, isStale, canPull }: { readonly all: number; readonly isStale: boolean; readonly canPull: boolean },
): readonly PageLine[] {
  const tools = models.filter(({ capabilities }) => capabilities.tools.value !== false);
  const counts = `Models: ${all} installed, ${models.length} can chat, ${tools.length} may support tools`;
  const text = `${counts}${isStale ? ' (the last known list)' : ''}`;
  if (models.length === 0 && !canPull)
    return [{ text }, fix('Load a model that can chat in the program that serves the models.')];
  if (models.length === 0) return [{ text }, fix('Pull a model that can chat, such as qwen3:4b.', pullModel)];
  if (tools.length > 0) return [{ state: 'good', text }];
  const advice = `The agent lists only models with tools. Ask @runner, or ${canPull ? 'pull' : 'load'} a model with tools.`;
  return [{ text }, fix(advice, pullModel, chooseChatModel)];
}

/** Lines about the model of `@runner`; `wanted` is the setting. */
function adviseOnChat(models: readonly Model[], wanted: string): readonly PageLine[] {
  if (wanted === '')
    return [
      {
        text: 'Chat: the model in the picker answers @runner. If the chat says "Language model unavailable", choose a model there.',
        links: [openModelPicker],
      },
    ];
  const found = `Chat: the setting runner.chatModel names ${wanted}`;
  if (!models.some((model) => isSameModel({ model: idOf(model) }, { model: wanted })))
    return [
      { text: found },
      fix(
        `${wanted} is not installed: pull it, or choose another model.`,
        pullOf(wanted),
        chooseAnotherModel,
        letPickerDecide,
      ),
    ];
  const links = [chooseAnotherModel, letPickerDecide];
  return [{ state: 'good', text: `${found}, which answers @runner whatever the picker shows`, links }];
}

/** Lines about the completion model; `wanted` is the setting. */
function adviseOnCompletion(models: readonly Model[], wanted: string): readonly PageLine[] {
  if (wanted === '')
    return [{ text: 'Completion as you type: off', links: [{ ...choose, title: 'Switch It On' }] }];
  const model = models.find(({ name }) => isSameModel({ model: name }, { model: wanted }));
  const found = `Completion as you type: ${wanted}`;
  if (!model) {
    const advice = `${wanted} is not installed: pull it, or choose another model.`;
    return [{ text: found }, fix(advice, pullOf(wanted), choose)];
  }
  if (model.capabilities.insert.value === true)
    return [{ state: 'good', text: `${found}, which fills in the middle` }];
  return [{ text: `${found}, which the runner does not list as filling in the middle`, links: [choose] }];
}

/** What Runner has started or fetched on this machine; nothing if there is nothing. */
function adviseOnEngine(status: EngineStatus): readonly PageSection[] {
  const { state, message, isInstalled, sample } = status;
  const fetched = [
    ...(isInstalled ? ['the engine'] : []),
    ...(sample === undefined ? [] : ['the small model']),
  ];
  if (state === 'stopped' && fetched.length === 0) return [];
  const stop = { title: 'Stop It', command: 'runner.stopModelHere' };
  const started: PageLine = {
    ...(state === 'down' && { state: 'bad' }),
    text: message,
    links: [state === 'running' ? stop : startModelHere],
  };
  const remove = { title: 'Delete', command: 'runner.removeFetched' };
  const there: PageLine = { text: `Fetched: ${fetched.join(' and ')}`, links: [remove] };
  return [{ heading: 'Started here', lines: [started, ...(fetched.length > 0 ? [there] : [])] }];
}

const again: Remedy = { title: 'Try Again', command: 'runner.doctor' };

/** What to do about a server that could not be examined. */
function adviseOnFailure(error: unknown): readonly Remedy[] {
  const remedies = openNamedSetting(error) ?? remediesFor(errorDataOf(error));
  return [again, ...remedies.filter(({ command }) => command !== again.command)];
}

const choose: Remedy = { title: 'Choose the Completion Model', command: 'runner.chooseCompletionModel' };

function pullOf(model: string): Remedy {
  return { title: `Pull ${model}`, command: 'runner.pullModel', arguments: [{ model }] };
}

function fix(text: string, ...links: readonly Remedy[]): PageLine {
  return { state: 'bad', text, links };
}
