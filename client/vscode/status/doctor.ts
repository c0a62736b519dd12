import * as vscode from 'vscode';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { engineStatusRequest } from '../../../protocol/messages/engine.ts';
import { canChat, listModelsRequest } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { nameAfter, statusRequest } from '../../../protocol/messages/status.ts';
import { versionOf } from '../convert/failure.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { possible } from '../daemon/knownServers.ts';
import type { RunnerChanges } from '../daemon/runnerChanges.ts';
import type { ServerFactsStore } from '../daemon/serverFacts.ts';
import { serverNames } from '../daemon/servers.ts';
import { chatModel, completionModel, readSettings, settingProblems } from '../settings.ts';
import type { PageContent, PageLine, PageSection } from '../ui/page.ts';
import { inEditorWords, openSetting, remediesForOffline, showDoctor } from '../ui/remedies.ts';
import { createWebPage } from '../ui/webPage.ts';
import {
  adviseOnChat,
  adviseOnCompletion,
  adviseOnEngine,
  adviseOnFailure,
  adviseOnModels,
  again,
} from './doctorAdvice.ts';

/** Shows a page that says what is reachable, installed and wrong, with the links that fix it. */
export function registerDoctor(
  daemon: DaemonConnection,
  changes: RunnerChanges,
  { version, facts }: { readonly version: string; readonly facts: ServerFactsStore },
): vscode.Disposable {
  const page = createWebPage('runner.doctor', changes.onDidChange);
  return vscode.Disposable.from(
    page,
    vscode.commands.registerCommand('runner.doctor', async () => {
      const location = vscode.ProgressLocation.Window;
      await vscode.window.withProgress({ location, title: 'Examining' }, () =>
        page.show(() => examine(daemon, facts, version)),
      );
    }),
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
      return { ...section, lines: section.lines?.map((line) => withPossible(facts, line)) ?? [] };
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

/** Without the links to what no server can do. */
function withPossible(facts: ServerFactsStore, { links = [], ...line }: PageLine): PageLine {
  return { ...line, links: possible(facts, links) };
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
    const able = { models: models.filter(canChat), all: models.length, isStale: stale === true, canPull };
    const chatServer = serverNames(readSettings()).find((name) => chatModel().startsWith(`${name}/`));
    const uses = [
      ...(server === (chatServer ?? defaultServerName) ? adviseOnChat(models, chatModel()) : []),
      ...(isDefault ? adviseOnCompletion(models, completionModel()) : []),
    ];
    return { heading, lines: [reached, ...adviseOnModels(able), ...uses] };
  } catch (error) {
    return { heading, lines: [{ state: 'bad', text: messageOf(error), links: adviseOnFailure(error) }] };
  }
}
