import { totalmem } from 'node:os';
import * as vscode from 'vscode';
import { isLoopback } from '../../../protocol/base/loopback.ts';
import { libraryRequest, pullModelRequest } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { catalogServer } from '../daemon/knownServers.ts';
import type { ServerFactsStore } from '../daemon/serverFacts.ts';
import { originsOf } from '../daemon/servers.ts';
import type { Parts } from '../parts.ts';
import { readSettings } from '../settings.ts';
import { plain } from '../ui/safeText.ts';
import { installedNames } from './modelLists.ts';
import { chooseServer } from './modelPicker.ts';
import { type ModelRow, paramsOf } from './modelRow.ts';
import { askForName, describeSize, sizeChoices } from './pullChoices.ts';
import { runWork } from './work.ts';

export type PullParts = Pick<Parts, 'daemon' | 'facts' | 'interrupted' | 'pulls' | 'sidebar'>;

/** Pulls the model of a row, in the size that the user chooses, or a model that the user names. */
export async function pull(parts: PullParts, row: ModelRow | undefined): Promise<void> {
  const { daemon, facts } = parts;
  const named = row ?? (await nameOfLibrary(daemon, facts));
  const place = named?.server === undefined ? await chooseServer(facts, 'pull') : {};
  const wanted = named && place && { ...named, ...place };
  const model = wanted && (await chooseSize(daemon, wanted));
  if (model !== undefined) await download(parts, paramsOf({ ...wanted, model }));
}

async function download(
  { daemon, pulls, interrupted, sidebar }: PullParts,
  params: ReturnType<typeof paramsOf>,
): Promise<void> {
  const { model } = params;
  const cancellation = new vscode.CancellationTokenSource();
  const watched = pulls.begin({ ...params, cancel: () => cancellation.cancel() });
  interrupted.begin(params);
  try {
    const watcher = { token: cancellation.token, report: watched.report };
    const done = await runWork(daemon, `Pulling ${model}`, [pullModelRequest, params], watcher);
    if (!done) return void offerToContinue(params);
    sidebar.revealInstalled(params);
    void offerChat(params);
  } catch (error) {
    throw named(error, model);
  } finally {
    watched.end();
    interrupted.end(params);
    cancellation.dispose();
  }
}

/** The error names the model, because several may be pulled at once. */
function named(error: unknown, model: string): unknown {
  if (error instanceof Error && !error.message.includes(model))
    error.message = `${model} was not pulled. ${error.message}`;
  return error;
}

/** After a cancel, which may have been a slip: a large part may have arrived. */
async function offerToContinue(params: ReturnType<typeof paramsOf>): Promise<void> {
  const goOn = 'Continue';
  const sentence = `The download of ${params.model} was cancelled. The runner keeps what has arrived.`;
  const choice = await vscode.window.showInformationMessage(plain(sentence), goOn);
  if (choice === goOn) await vscode.commands.executeCommand('runner.pullModel', params);
}

async function offerChat(params: ReturnType<typeof paramsOf>): Promise<void> {
  const chat = 'Chat with It';
  const choice = await vscode.window.showInformationMessage(plain(`Pulled ${params.model}.`), chat);
  if (choice === chat) await vscode.commands.executeCommand('runner.chatWithModel', params);
}

async function nameOfLibrary(
  daemon: DaemonConnection,
  facts: ServerFactsStore,
): Promise<ModelRow | undefined> {
  const hasCatalog = facts.those('catalog').length > 0;
  const library = hasCatalog
    ? daemon.request(libraryRequest, catalogServer(facts)).then(({ entries }) => entries)
    : undefined;
  const named = await askForName(library);
  if (named === undefined) return undefined;
  return 'name' in named ? { model: named.name } : named.entry;
}

async function chooseSize(daemon: DaemonConnection, row: ModelRow): Promise<string | undefined> {
  const { model, sizes = [] } = row;
  if (sizeChoices(model, sizes, []).length === 0) return model;
  const choices = sizeChoices(model, sizes, await installedNames(daemon, row));
  const items = choices.map((choice) => ({
    label: choice.model,
    description: describeSize(choice, memoryOf(row.server)),
    ...(choice.isInstalled ? { iconPath: new vscode.ThemeIcon('check') } : {}),
  }));
  return (await vscode.window.showQuickPick(items, { title: `Pull Which Size of ${model}?` }))?.label;
}

/** In bytes, where the runner is on this machine. */
function memoryOf(server = defaultServerName): number | undefined {
  const origin = originsOf(readSettings()).get(server);
  return origin !== undefined && isLoopback(origin) ? totalmem() : undefined;
}
