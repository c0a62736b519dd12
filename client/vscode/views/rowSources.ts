import {
  type CatalogResult,
  cloudRequest,
  libraryRequest,
  listModelsRequest,
  runningModelsRequest,
} from '../../../protocol/messages/models.ts';
import { statusRequest } from '../../../protocol/messages/status.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { catalogServer, type KnownServers } from '../daemon/knownServers.ts';
import { inEditorWords } from '../ui/remedies.ts';
import { catalogRow, localRow, runningRow } from './modelRows.ts';
import type { LoadedRows, RowSource } from './rowStore.ts';

type Daemon = Pick<DaemonConnection, 'request'>;

export async function loadLocal(daemon: Daemon, server: string): Promise<LoadedRows> {
  const { models, stale } = await daemon.request(listModelsRequest, { server, refresh: true });
  const rows = models.map(localRow);
  if (!stale) return { rows };
  // The request also makes the daemon announce to all views that the runner is down.
  const status = await daemon.request(statusRequest, { server });
  return { rows, note: `${inEditorWords(status, server)} This is the last known list.` };
}

export async function loadRunning(daemon: Daemon, server: string): Promise<LoadedRows> {
  const { models } = await daemon.request(runningModelsRequest, { server });
  return { rows: models.map(runningRow) };
}

/** A public list of models; the time of an old one is written in this language. */
export function catalogSource(
  daemon: Daemon,
  facts: Pick<KnownServers, 'those'>,
  { kind, language }: { readonly kind: 'library' | 'cloud'; readonly language: string },
): RowSource {
  const message = kind === 'library' ? libraryRequest : cloudRequest;
  return {
    name: kind,
    async load(isAsked) {
      const result = await daemon.request(message, { ...catalogServer(facts), refresh: isAsked });
      return { rows: result.entries.map((entry) => catalogRow(entry, kind)), ...ageOf(result, language) };
    },
  };
}

/** The age of a list that could not be refreshed. */
function ageOf({ stale, fetchedAt }: CatalogResult, language: string): Pick<LoadedRows, 'note'> {
  if (!stale) return {};
  const time = new Date(fetchedAt).toLocaleString(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
  });
  return { note: `The catalog does not answer; this is its list as of ${time}. Refresh to try again.` };
}
