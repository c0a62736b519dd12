import * as vscode from 'vscode';
import {
  deleteModelRequest,
  listModelsRequest,
  type Model,
  runModelRequest,
  runningModelsRequest,
  stopModelRequest,
} from '../../../protocol/models.ts';
import { errorDataOf } from '../convert/failure.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { serverNames } from '../daemon/servers.ts';
import type { ErrorReporter } from '../errorReporter.ts';
import { plain } from '../notificationText.ts';
import { readSettings } from '../settings.ts';
import { type ModelRow, paramsOf, type ShownModels, serverOf } from './modelRow.ts';
import { pull } from './pullCommand.ts';
import type { RunningPull, RunningPulls } from './runningPulls.ts';

export interface ModelCommandsParts {
  readonly daemon: DaemonConnection;
  readonly reporter: ErrorReporter;
  readonly pulls: RunningPulls;
  /** Where the row is shown that a command made. */
  readonly sidebar: ShownModels;
}

/** The commands of the model views. Each asks for a model if it was not called on a row. */
export function registerModelCommands({
  daemon,
  reporter,
  pulls,
  sidebar,
}: ModelCommandsParts): vscode.Disposable {
  const commands: Readonly<Record<string, (row: ModelRow | undefined) => Promise<void>>> = {
    'runner.pullModel': (row) => pull({ daemon, pulls, sidebar }, row),
    'runner.runModel': (row) => run({ daemon, sidebar }, row),
    'runner.stopModel': (row) => stop(daemon, row),
    'runner.deleteModel': (row) => remove(daemon, row),
    'runner.copyModelName': copyName,
    'runner.openModelPage': openPage,
    'runner.cancelPull': async (row) => (row as RunningPull | undefined)?.cancel(),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([id, work]) =>
      vscode.commands.registerCommand(id, async (row?: ModelRow) => {
        try {
          await work(row);
        } catch (error) {
          reporter.report(error, { showToUser: true });
        }
      }),
    ),
  );
}

async function run(
  { daemon, sidebar }: Pick<ModelCommandsParts, 'daemon' | 'sidebar'>,
  row: ModelRow | undefined,
): Promise<void> {
  const chosen = row ?? (await pick(daemon, 'Load which model?', ({ running }) => running === undefined));
  if (!chosen) return;
  const title = plain(`Loading ${chosen.model}`);
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    async (_, token) => {
      try {
        const { model } = await daemon.request(runModelRequest, paramsOf(chosen), token);
        sidebar.revealLoaded({ model: model.name, server: model.server });
      } catch (error) {
        if (!token.isCancellationRequested) throw error;
      }
    },
  );
}

async function stop(daemon: DaemonConnection, row: ModelRow | undefined): Promise<void> {
  const chosen = row ?? (await pick(daemon, 'Unload which model?', ({ running }) => running !== undefined));
  if (!chosen) return;
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: plain(`Unloading ${chosen.model}`) },
    () => daemon.request(stopModelRequest, paramsOf(chosen)),
  );
}

/** Asks once. A loaded model is stopped first, if the user agrees. */
async function remove(daemon: DaemonConnection, row: ModelRow | undefined): Promise<void> {
  const chosen = row ?? (await pick(daemon, 'Delete which model?', () => true));
  if (!chosen) return;
  const isLoaded = await isRunning(daemon, chosen);
  const action = isLoaded ? 'Stop and Delete' : 'Delete';
  const detail = `${isLoaded ? 'It is loaded and will be stopped first. ' : ''}To use it again, you must pull it again.`;
  const answer = await vscode.window.showWarningMessage(
    `Delete the model ${chosen.model}?`,
    { modal: true, detail },
    action,
  );
  if (answer !== action) return;
  await daemon.request(deleteModelRequest, { ...paramsOf(chosen), stop: isLoaded });
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

async function copyName(row: ModelRow | undefined): Promise<void> {
  if (row) await vscode.env.clipboard.writeText(row.model);
}

async function openPage(row: ModelRow | undefined): Promise<void> {
  if (row?.url !== undefined) await vscode.env.openExternal(vscode.Uri.parse(row.url, true));
}

async function pick(
  daemon: DaemonConnection,
  title: string,
  fits: (model: Model) => boolean,
): Promise<ModelRow | undefined> {
  const models = await listEverywhere(daemon);
  const isNamed = new Set(models.map(({ server }) => server)).size > 1;
  const items = models.filter(fits).map(({ name, server }) => ({
    label: name,
    ...(isNamed ? { description: server } : {}),
    row: { model: name, server },
  }));
  if (items.length > 0) return (await vscode.window.showQuickPick(items, { title }))?.row;
  void vscode.window.showInformationMessage('There is no such model.');
  return undefined;
}

/** From all servers that answer. If none does, it throws the first one's error. */
async function listEverywhere(daemon: DaemonConnection): Promise<readonly Model[]> {
  const asked = serverNames(readSettings()).map((server) =>
    daemon.request(listModelsRequest, { server, refresh: true }),
  );
  const answers = await Promise.allSettled(asked);
  const [first] = answers;
  if (first?.status === 'rejected' && answers.every(({ status }) => status === 'rejected'))
    throw first.reason;
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.models : []));
}
