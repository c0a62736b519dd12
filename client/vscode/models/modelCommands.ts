import * as vscode from 'vscode';
import {
  deleteModelRequest,
  listModelsRequest,
  type Model,
  pullModelRequest,
  runModelRequest,
  runningModelsRequest,
  stopModelRequest,
} from '../../../protocol/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import type { ErrorReporter } from '../errorReporter.ts';
import { runWork } from './work.ts';

/** What a row of a view hands to a command. */
export interface ModelRow {
  /** What the runner knows it by; of a catalog's row, what to pull. */
  readonly model: string;
  readonly server?: string;
  /** Of a catalog's row. */
  readonly url?: string;
}

/** The commands of the model views; each asks for a model where it was not called on a row. */
export function registerModelCommands(daemon: DaemonConnection, reporter: ErrorReporter): vscode.Disposable {
  const commands: Readonly<Record<string, (row: ModelRow | undefined) => Promise<void>>> = {
    'runner.pullModel': (row) => pull(daemon, row),
    'runner.runModel': (row) => run(daemon, row),
    'runner.stopModel': (row) => stop(daemon, row),
    'runner.deleteModel': (row) => remove(daemon, row),
    'runner.copyModelName': copyName,
    'runner.openModelPage': openPage,
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

async function pull(daemon: DaemonConnection, row: ModelRow | undefined): Promise<void> {
  const model = row?.model ?? (await askForName());
  if (model === undefined) return;
  const done = await runWork(daemon, `Pulling ${model}`, [pullModelRequest, paramsOf({ ...row, model })]);
  if (done) vscode.window.setStatusBarMessage(`Pulled ${model}`, 5_000);
}

async function run(daemon: DaemonConnection, row: ModelRow | undefined): Promise<void> {
  const chosen = row ?? (await pick(daemon, 'Load which model?', ({ running }) => running === undefined));
  if (!chosen) return;
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Loading ${chosen.model}`, cancellable: true },
    (_, token) => daemon.request(runModelRequest, paramsOf(chosen), token),
  );
}

async function stop(daemon: DaemonConnection, row: ModelRow | undefined): Promise<void> {
  const chosen = row ?? (await pick(daemon, 'Unload which model?', ({ running }) => running !== undefined));
  if (!chosen) return;
  await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Unloading ${chosen.model}` },
    () => daemon.request(stopModelRequest, paramsOf(chosen)),
  );
}

/** Asked for once; a model that is loaded is stopped first where the user agrees. */
async function remove(daemon: DaemonConnection, row: ModelRow | undefined): Promise<void> {
  const chosen = row ?? (await pick(daemon, 'Delete which model?', () => true));
  if (!chosen) return;
  const { models } = await daemon.request(runningModelsRequest, serverOf(chosen));
  const isLoaded = models.some(({ name }) => name === chosen.model);
  const action = isLoaded ? 'Stop and Delete' : 'Delete';
  const detail = `${isLoaded ? 'It is loaded and will be stopped first. ' : ''}To have it again, it must be pulled again.`;
  const answer = await vscode.window.showWarningMessage(
    `Delete the model ${chosen.model}?`,
    { modal: true, detail },
    action,
  );
  if (answer !== action) return;
  await daemon.request(deleteModelRequest, { ...paramsOf(chosen), stop: isLoaded });
}

async function copyName(row: ModelRow | undefined): Promise<void> {
  if (row) await vscode.env.clipboard.writeText(row.model);
}

async function openPage(row: ModelRow | undefined): Promise<void> {
  if (row?.url !== undefined) await vscode.env.openExternal(vscode.Uri.parse(row.url, true));
}

async function askForName(): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title: 'Pull a Model',
    prompt: 'The name of a model, such as qwen3:4b or hf.co/owner/model:tag',
    ignoreFocusOut: true,
  });
  return name?.trim() || undefined;
}

async function pick(
  daemon: DaemonConnection,
  title: string,
  fits: (model: Model) => boolean,
): Promise<ModelRow | undefined> {
  const { models } = await daemon.request(listModelsRequest, { refresh: true });
  const items = models
    .filter(fits)
    .map(({ name, server }) => ({ label: name, row: { model: name, server } }));
  if (items.length > 0) return (await vscode.window.showQuickPick(items, { title }))?.row;
  void vscode.window.showInformationMessage('There is no such model.');
  return undefined;
}

function paramsOf(row: ModelRow): { readonly model: string; readonly server?: string } {
  return { model: row.model, ...serverOf(row) };
}

function serverOf({ server }: ModelRow): { readonly server?: string } {
  return server === undefined ? {} : { server };
}
