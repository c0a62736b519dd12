import * as vscode from 'vscode';
import { deleteModelRequest, runModelRequest, stopModelRequest } from '../../../protocol/messages/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { plain } from '../ui/safeText.ts';
import { isRunning, othersLoaded, pageOf } from './modelLists.ts';
import { type ModelRow, paramsOf, type ShownModels } from './modelRow.ts';

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
