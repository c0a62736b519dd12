import * as vscode from 'vscode';
import { formatBytes } from '../../../protocol/base/bytes.ts';
import { canChat, listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { completionModel, updateSetting } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { plain } from '../ui/safeText.ts';

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

interface ModelChoice {
  readonly label: string;
  readonly description: string;
  /** `""` is none. */
  readonly model: string;
}

/** Models that fill in the middle come first, and small before large, because completion asks at each pause. */
function modelChoices(models: readonly Model[], current: string): readonly ModelChoice[] {
  const able = models
    .filter((model) => canChat(model) && !model.remote && model.server === defaultServerName)
    .sort((a, b) => Number(fills(b)) - Number(fills(a)) || (a.size ?? 0) - (b.size ?? 0));
  const items = able.map((model) => ({
    label: model.name,
    description: [
      model.size === undefined ? '' : formatBytes(model.size),
      fills(model) ? 'fills in the middle' : '$(warning) cannot fill in the middle',
      model.name === current ? 'now' : '',
    ]
      .filter(Boolean)
      .join(', '),
    model: model.name,
  }));
  return [...items, { label: '$(circle-slash) None', description: 'completion is off', model: '' }];
}

function fills({ capabilities }: Model): boolean {
  return capabilities.insert.value === true;
}
