import * as vscode from 'vscode';
import {
  type CatalogResult,
  cloudRequest,
  libraryRequest,
  listModelsRequest,
  modelsDidChange,
  runningModelsRequest,
} from '../../../protocol/messages/models.ts';
import { defaultCatalogUrl } from '../../../protocol/messages/settings.ts';
import { statusRequest } from '../../../protocol/messages/status.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { followStatus } from '../daemon/serverFacts.ts';
import { catalogServer, originsOf, serverNames } from '../daemon/servers.ts';
import type { ShownModels } from '../models/modelRow.ts';
import type { Parts } from '../parts.ts';
import { readSettings } from '../settings.ts';
import { inEditorWords } from '../ui/remedies.ts';
import { catalogRow, localRow, runningRow } from './modelRows.ts';
import { ModelView } from './modelView.ts';
import type { LoadedRows, RowSource } from './rowStore.ts';

/** The four views of models. */
export function createSidebar({
  daemon,
  memory,
  clock,
  pulls,
  facts,
}: Pick<Parts, 'clock' | 'daemon' | 'facts' | 'memory' | 'pulls'>): ShownModels & vscode.Disposable {
  const parts = { memory, clock, facts };
  const local = new ModelView(parts, {
    name: 'Local',
    title: 'Local Models',
    address: runnerAddress,
    pulls,
    canSort: true,
    sources: () => ofEachServer((server) => loadLocal(daemon, server)),
  });
  const running = new ModelView(parts, {
    name: 'Running',
    title: 'Running Models',
    address: runnerAddress,
    sources: () => ofEachServer((server) => loadRunning(daemon, server)),
    badge: (count) => (count === 1 ? '1 model is loaded' : `${count} models are loaded`),
  });
  const ofCatalog = (name: string, title: string, kind: 'library' | 'cloud') =>
    new ModelView(parts, {
      ...{ name, title, address: catalogAddress },
      sources: () => [catalogSource(daemon, facts, kind)],
    });
  const library = ofCatalog('Library', 'Library', 'library');
  const cloud = ofCatalog('Cloud', 'Cloud Models', 'cloud');
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

async function loadLocal(daemon: DaemonConnection, server: string): Promise<LoadedRows> {
  const { models, stale } = await daemon.request(listModelsRequest, { server, refresh: true });
  const rows = models.map(localRow);
  if (!stale) return { rows };
  // The request also makes the daemon announce to all views that the runner is down.
  const status = await daemon.request(statusRequest, { server });
  return { rows, note: `${inEditorWords(status, server)} This is the last known list.` };
}

async function loadRunning(daemon: DaemonConnection, server: string): Promise<LoadedRows> {
  const { models } = await daemon.request(runningModelsRequest, { server });
  return { rows: models.map(runningRow) };
}

/** A public list of models. */
function catalogSource(
  daemon: DaemonConnection,
  facts: Parts['facts'],
  kind: 'library' | 'cloud',
): RowSource {
  const message = kind === 'library' ? libraryRequest : cloudRequest;
  return {
    name: kind,
    async load(isAsked) {
      const result = await daemon.request(message, { ...catalogServer(facts), refresh: isAsked });
      return { rows: result.entries.map((entry) => catalogRow(entry, kind)), ...ageOf(result) };
    },
  };
}

/** The age of a list that could not be refreshed. */
function ageOf({ stale, fetchedAt }: CatalogResult): Pick<LoadedRows, 'note'> {
  if (!stale) return {};
  const style = { dateStyle: 'medium', timeStyle: 'short' } as const;
  const time = new Date(fetchedAt).toLocaleString(vscode.env.language, style);
  return { note: `The catalog does not answer; this is its list as of ${time}. Refresh to try again.` };
}
