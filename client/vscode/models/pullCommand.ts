import * as vscode from 'vscode';
import { listModelsRequest, pullModelRequest } from '../../../protocol/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { sizeChoices } from './librarySizes.ts';
import { type ModelRow, paramsOf, type ShownModels } from './modelRow.ts';
import type { RunningPulls } from './runningPulls.ts';
import { runWork } from './work.ts';

export interface PullParts {
  readonly daemon: DaemonConnection;
  readonly pulls: RunningPulls;
  readonly sidebar: Pick<ShownModels, 'revealInstalled'>;
}

/** Pulls the model of a row, in the size that the user chooses, or a model that the user names. */
export async function pull({ daemon, pulls, sidebar }: PullParts, row: ModelRow | undefined): Promise<void> {
  const model = row ? await chooseSize(daemon, row) : await askForName();
  if (model === undefined) return;
  const params = paramsOf({ ...row, model });
  const cancellation = new vscode.CancellationTokenSource();
  const watched = pulls.begin({ ...params, cancel: () => cancellation.cancel() });
  try {
    const watcher = { token: cancellation.token, report: watched.report };
    const done = await runWork(daemon, `Pulling ${model}`, [pullModelRequest, params], watcher);
    if (!done) return;
    sidebar.revealInstalled(params);
    vscode.window.setStatusBarMessage(`Pulled ${model}`, 5_000);
  } finally {
    watched.end();
    cancellation.dispose();
  }
}

async function chooseSize(
  daemon: DaemonConnection,
  { model, sizes = [] }: ModelRow,
): Promise<string | undefined> {
  if (sizeChoices(model, sizes, []).length === 0) return model;
  const choices = sizeChoices(model, sizes, await installedNames(daemon));
  const items = choices.map(({ model: label, description, isInstalled }) => ({
    label,
    description: [description, isInstalled ? 'installed' : ''].filter(Boolean).join(', '),
    ...(isInstalled ? { iconPath: new vscode.ThemeIcon('check') } : {}),
  }));
  return (await vscode.window.showQuickPick(items, { title: `Pull Which Size of ${model}?` }))?.label;
}

/** "Installed" is only a mark: without a runner there is none, and the pull itself reports the problem. */
async function installedNames(daemon: DaemonConnection): Promise<readonly string[]> {
  try {
    const { models } = await daemon.request(listModelsRequest, {});
    return models.map(({ name }) => name);
  } catch {
    return [];
  }
}

async function askForName(): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title: 'Pull a Model',
    prompt: 'The name of a model, such as qwen3:4b or hf.co/owner/model:tag',
    ignoreFocusOut: true,
  });
  return name?.trim() || undefined;
}
