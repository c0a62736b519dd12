import * as vscode from 'vscode';
import { canChat } from '../../../protocol/choice.ts';
import { defaultServerName } from '../../../protocol/initialize.ts';
import { listModelsRequest, type Model } from '../../../protocol/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import type { ErrorReporter } from '../errorReporter.ts';
import { completionModel, updateSetting } from '../settings.ts';

/** Chooses the model that completes as the user types, or none. */
export function registerChooseCompletionModel(
  daemon: DaemonConnection,
  reporter: ErrorReporter,
): vscode.Disposable {
  return vscode.commands.registerCommand('runner.chooseCompletionModel', async () => {
    try {
      const { models } = await daemon.request(listModelsRequest, { refresh: true });
      const items = itemsOf(models, completionModel());
      const chosen = await vscode.window.showQuickPick(items, {
        title: 'Which Model Completes as You Type?',
      });
      if (!chosen) return;
      await updateSetting('completionModel', chosen.model);
    } catch (error) {
      reporter.report(error, { during: 'Choosing a model', showToUser: true });
    }
  });
}

/** Models that fill in the middle first, the smallest first, because completion asks at each pause. */
function itemsOf(models: readonly Model[], current: string) {
  const able = models
    .filter((model) => canChat(model) && !model.remote && model.server === defaultServerName)
    .sort((a, b) => Number(fills(b)) - Number(fills(a)) || (a.size ?? 0) - (b.size ?? 0));
  const items = able.map((model) => ({
    label: model.name,
    description: [fills(model) ? 'fills in the middle' : '', model.name === current ? 'now' : '']
      .filter(Boolean)
      .join(', '),
    model: model.name,
  }));
  return [...items, { label: '$(circle-slash) None', description: 'completion is off', model: '' }];
}

function fills({ capabilities }: Model): boolean {
  return capabilities.insert.value === true;
}
