import {
  libraryRequest,
  listModelsRequest,
  type Model,
  runningModelsRequest,
} from '../../../protocol/messages/models.ts';
import { errorDataOf } from '../convert/failure.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { isSameModel, type ModelRow, serverOf } from './modelRow.ts';

// What the servers and the catalog say of models.

type Daemon = Pick<DaemonConnection, 'request'>;

/** The models of all servers that answer. If none does, it throws the first server's error. */
export async function listEverywhere(daemon: Daemon, servers: readonly string[]): Promise<readonly Model[]> {
  const asked = servers.map((server) => daemon.request(listModelsRequest, { server, refresh: true }));
  const answers = await Promise.allSettled(asked);
  const [first] = answers;
  if (first?.status === 'rejected' && answers.every(({ status }) => status === 'rejected'))
    throw first.reason;
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.models : []));
}

/** If a server does not report what is loaded, the delete itself decides. */
export async function isRunning(daemon: Daemon, row: ModelRow): Promise<boolean> {
  try {
    const { models } = await daemon.request(runningModelsRequest, serverOf(row));
    return models.some(({ name }) => name === row.model);
  } catch (error) {
    if (errorDataOf(error)?.kind === 'not-supported') return false;
    throw error;
  }
}

/** "Installed" is only a mark: without a runner there is none, and the pull itself reports the problem. */
export async function installedNames(daemon: Daemon, row: ModelRow): Promise<readonly string[]> {
  try {
    const { models } = await daemon.request(listModelsRequest, serverOf(row));
    return models.map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Every other loaded model of its server. */
export async function othersLoaded(daemon: Daemon, row: Partial<ModelRow>): Promise<readonly ModelRow[]> {
  const { models } = await daemon.request(runningModelsRequest, serverOf(row));
  return models
    .map(({ name, server }) => ({ model: name, server }))
    .filter((other) => !isSameModel(other, { server: other.server, model: row.model ?? '' }));
}

/** The page of a model. A row of the catalog has its address; a local model may be in the catalog. */
export async function pageOf(daemon: Daemon, row: ModelRow): Promise<string | undefined> {
  return row.url ?? huggingFacePage(row.model) ?? catalogPage(daemon, row);
}

/** For a model that was pulled from Hugging Face. */
function huggingFacePage(model: string): string | undefined {
  const [, owner, name] = /^(?:hf\.co|huggingface\.co)\/([\w.-]+)\/([\w.-]+)/i.exec(model) ?? [];
  return owner === undefined ? undefined : `https://huggingface.co/${owner}/${name}`;
}

async function catalogPage(daemon: Daemon, row: ModelRow): Promise<string | undefined> {
  const { entries } = await daemon.request(libraryRequest, serverOf(row));
  const base = withoutTag(row.model);
  return entries.find(({ name }) => withoutTag(name) === base)?.url;
}

function withoutTag(name: string): string {
  return name.toLowerCase().replace(/:[^:/]*$/, '');
}
