import * as vscode from 'vscode';
import {
  deleteModelRequest,
  libraryRequest,
  runModelRequest,
  runningModelsRequest,
  stopModelRequest,
} from '../../../protocol/messages/models.ts';
import { errorDataOf } from '../convert/failure.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { plain } from '../ui/safeText.ts';
import { isSameModel, type ModelRow, paramsOf, type ShownModels, serverOf } from './modelRow.ts';

/** Loads a model under a notification that cancels it. */
export async function load(
  daemon: DaemonConnection,
  sidebar: Pick<ShownModels, 'revealLoaded'>,
  row: ModelRow,
): Promise<void> {
  const title = plain(`Loading ${row.model}`);
  const location = vscode.ProgressLocation.Notification;
  await vscode.window.withProgress({ location, title, cancellable: true }, async (_, token) => {
    try {
      const { model } = await daemon.request(runModelRequest, paramsOf(row), token);
      sidebar.revealLoaded({ model: model.name, server: model.server });
    } catch (error) {
      if (!token.isCancellationRequested) throw error;
    }
  });
}

export async function unload(daemon: DaemonConnection, rows: readonly ModelRow[]): Promise<void> {
  for (const row of rows)
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: plain(`Unloading ${row.model}`) },
      () => daemon.request(stopModelRequest, paramsOf(row)),
    );
}

/** Makes room for a model: unloads every other loaded model of its server. False if there is none. */
export async function unloadOthers(daemon: DaemonConnection, row: Partial<ModelRow>): Promise<boolean> {
  const others = await othersLoaded(daemon, row);
  if (others.length === 0)
    void vscode.window.showInformationMessage('No other model is loaded. Choose a smaller one.');
  await unload(daemon, others);
  return others.length > 0;
}

/** Asks once. A loaded model is unloaded first, if the user agrees. */
export async function remove(daemon: DaemonConnection, row: ModelRow): Promise<void> {
  const isLoaded = await isRunning(daemon, row);
  const action = isLoaded ? 'Unload and Delete' : 'Delete';
  const detail = `${isLoaded ? 'It is loaded and will be unloaded first. ' : ''}To use it again, you must pull or create it again.`;
  const question = `Delete the model ${row.model}?`;
  const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, action);
  if (answer === action) await daemon.request(deleteModelRequest, { ...paramsOf(row), stop: isLoaded });
}

/** In the browser. */
export async function openPage(daemon: DaemonConnection, row: ModelRow): Promise<void> {
  const url = await pageOf(daemon, row);
  if (url !== undefined) await vscode.env.openExternal(vscode.Uri.parse(url, true));
  else void vscode.window.showInformationMessage(`${row.model} has no page: the catalog does not list it.`);
}

/** If a server does not report what is loaded, the delete itself decides. */
async function isRunning(daemon: DaemonConnection, row: ModelRow): Promise<boolean> {
  try {
    const { models } = await daemon.request(runningModelsRequest, serverOf(row));
    return models.some(({ name }) => name === row.model);
  } catch (error) {
    if (errorDataOf(error)?.kind === 'not-supported') return false;
    throw error;
  }
}

/** Every other loaded model of its server. */
async function othersLoaded(daemon: DaemonConnection, row: Partial<ModelRow>): Promise<readonly ModelRow[]> {
  const { models } = await daemon.request(runningModelsRequest, serverOf(row));
  return models
    .map(({ name, server }) => ({ model: name, server }))
    .filter((other) => !isSameModel(other, { server: other.server, model: row.model ?? '' }));
}

/** The page of a model. A row of the catalog has its address; a local model may be in the catalog. */
async function pageOf(daemon: DaemonConnection, row: ModelRow): Promise<string | undefined> {
  return row.url ?? huggingFacePage(row.model) ?? catalogPage(daemon, row);
}

/** For a model that was pulled from Hugging Face. */
function huggingFacePage(model: string): string | undefined {
  const [, owner, name] = /^(?:hf\.co|huggingface\.co)\/([\w.-]+)\/([\w.-]+)/i.exec(model) ?? [];
  return owner === undefined ? undefined : `https://huggingface.co/${owner}/${name}`;
}

async function catalogPage(daemon: DaemonConnection, row: ModelRow): Promise<string | undefined> {
  const { entries } = await daemon.request(libraryRequest, serverOf(row));
  const base = withoutTag(row.model);
  return entries.find(({ name }) => withoutTag(name) === base)?.url;
}

function withoutTag(name: string): string {
  return name.toLowerCase().replace(/:[^:/]*$/, '');
}
