import * as vscode from 'vscode';
import { listModelsRequest } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { completionModel, updateSetting } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { plain } from '../ui/safeText.ts';
import { fills, modelChoices } from './modelChoices.ts';

/** Chooses the model that completes as the user types, or none. */
export function registerChooseCompletionModel(
  daemon: DaemonConnection,
  reporter: ErrorReporter,
): vscode.Disposable {
  const useRow = async (row: unknown) => {
    const { model, server = defaultServerName } = row as { readonly model: string; readonly server?: string };
    if (server !== defaultServerName) {
      const sentence = `${model} is on the server ${server}. Completion uses only the models of the runner at runner.host.`;
      return void vscode.window.showInformationMessage(plain(sentence));
    }
    const { models } = await daemon.request(listModelsRequest, {});
    const known = models.find(({ name }) => name === model);
    if (known && !fills(known) && !(await isSure(model))) return;
    await updateSetting('completionModel', model);
    vscode.window.setStatusBarMessage(`${model} completes as you type`, 5_000);
  };
  const choose = async () => {
    const { models } = await daemon.request(listModelsRequest, { refresh: true });
    const items = modelChoices(models, completionModel());
    const title = 'Which Model Completes as You Type?';
    const chosen = await vscode.window.showQuickPick(items, { title });
    if (chosen) await updateSetting('completionModel', chosen.model);
  };
  const during = 'Choosing a model';
  return vscode.Disposable.from(
    reporter.registerCommand('runner.completeWithModel', useRow, during),
    reporter.registerCommand('runner.chooseCompletionModel', choose, during),
  );
}

async function isSure(model: string): Promise<boolean> {
  const yes = 'Use It All the Same';
  const question = `${model} is not listed as filling in the middle, so it completes worse.`;
  return (await vscode.window.showWarningMessage(plain(question), yes)) === yes;
}
