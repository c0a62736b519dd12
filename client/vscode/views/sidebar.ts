import * as vscode from 'vscode';
import { modelsDidChange } from '../../../protocol/messages/models.ts';
import { defaultCatalogUrl } from '../../../protocol/messages/settings.ts';
import { followStatus } from '../daemon/runnerChanges.ts';
import { originsOf, serverNames } from '../daemon/servers.ts';
import type { ShownModels } from '../models/modelRow.ts';
import type { Parts } from '../parts.ts';
import { readSettings } from '../settings.ts';
import { ModelView } from './modelView.ts';
import { catalogSource, loadLocal, loadRunning } from './rowSources.ts';
import type { LoadedRows, RowSource } from './rowStore.ts';

/** The four views of models. */
export function createSidebar({
  daemon,
  memory,
  clock,
  pulls,
  facts,
}: Pick<Parts, 'clock' | 'daemon' | 'facts' | 'memory' | 'pulls'>): ShownModels & vscode.Disposable {
  const { language } = vscode.env;
  const ofServers = { memory, clock, facts, address: runnerAddress };
  const ofCatalogs = { memory, clock, facts, address: catalogAddress };
  const local = new ModelView({
    ...ofServers,
    id: 'runnerModelsLocalView',
    name: 'Local',
    title: 'Local Models',
    pulls,
    canSort: true,
    sources: () => ofEachServer((server) => loadLocal(daemon, server)),
  });
  const running = new ModelView({
    ...ofServers,
    id: 'runnerModelsRunningView',
    name: 'Running',
    title: 'Running Models',
    sources: () => ofEachServer((server) => loadRunning(daemon, server)),
    badge: (count) => (count === 1 ? '1 model is loaded' : `${count} models are loaded`),
  });
  const library = new ModelView({
    ...ofCatalogs,
    id: 'runnerModelsLibraryView',
    name: 'Library',
    title: 'Library',
    sources: () => [catalogSource(daemon, facts, { kind: 'library', language })],
  });
  const cloud = new ModelView({
    ...ofCatalogs,
    id: 'runnerModelsCloudView',
    name: 'Cloud',
    title: 'Cloud Models',
    sources: () => [catalogSource(daemon, facts, { kind: 'cloud', language })],
  });
  const all = [local, running, library, cloud];
  const refresh = (views: readonly { refresh(): void }[]) => {
    for (const view of views) view.refresh();
  };
  const subscriptions = vscode.Disposable.from(
    ...all,
    daemon.onDidConnect(() => {
      for (const view of all) view.connect();
    }),
    daemon.onNotification(modelsDidChange, () => refresh(all)),
    // Another server may be the one with a catalog.
    facts.onDidChange(() => refresh([library, cloud])),
    followStatus(daemon, {
      onDidTurn: () => refresh(all),
      // An answer restarts the keep-alive of its model.
      onDidAnswer: () => refresh([running]),
    }),
    vscode.workspace.onDidChangeConfiguration(({ affectsConfiguration }) => {
      if (affectsConfiguration('runner.servers')) refresh([local, running]);
      if (affectsConfiguration('runner.catalogUrl')) refresh([library, cloud]);
    }),
  );
  return {
    revealInstalled: (row) => local.reveal(row),
    revealLoaded: (row) => running.reveal(row),
    selected: async (name) => all.find((view) => view.name === name)?.selected(),
    dispose: () => subscriptions.dispose(),
  };
}

/** One source for each server, because one server answers each request. */
function ofEachServer(load: (server: string) => Promise<LoadedRows>): readonly RowSource[] {
  return serverNames(readSettings()).map((name) => ({ name, load: () => load(name) }));
}

/** The address of the named server, or of the only one. */
function runnerAddress(server?: string): string | undefined {
  const origins = originsOf(readSettings());
  if (server !== undefined) return origins.get(server);
  const [only, ...more] = origins.values();
  return more.length === 0 ? only : undefined;
}

function catalogAddress(): string {
  return readSettings().catalogUrl || defaultCatalogUrl;
}
