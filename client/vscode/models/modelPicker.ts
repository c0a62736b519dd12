import * as vscode from 'vscode';
import { listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { serverNames } from '../daemon/servers.ts';
import { readSettings } from '../settings.ts';
import { describeChoice, inOrder } from './modelDescriptions.ts';

export interface PickOptions {
  /** Such as `Load Which Model?`. */
  readonly title: string;
  readonly fits?: (model: Model) => boolean;
  /** Added to the description of a model's entry. */
  readonly remark?: (model: Model) => string;
  /** Shown if no model fits. */
  readonly none?: string;
}

/**
 * Asks for one of the installed models. Loaded ones come first, each has its size and its state, and several servers
 * have a separator each.
 */
export async function pickModel(
  daemon: DaemonConnection,
  { title, fits = () => true, remark = () => '', none = 'There is no such model.' }: PickOptions,
): Promise<Model | undefined> {
  const models = await listEverywhere(daemon);
  const isNamed = new Set(models.map(({ server }) => server)).size > 1;
  const items = inOrder(models.filter(fits)).flatMap(([server, of]): readonly ModelItem[] => [
    ...(isNamed ? [{ label: server, kind: vscode.QuickPickItemKind.Separator }] : []),
    ...of.map((model) => ({
      label: model.name,
      description: [describeChoice(model), remark(model)].filter(Boolean).join(' · '),
      model,
    })),
  ]);
  if (items.length > 0)
    return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.model;
  void vscode.window.showInformationMessage(none);
  return undefined;
}

/** A separator has no model. */
interface ModelItem extends vscode.QuickPickItem {
  readonly model?: Model;
}

/** The models of all servers that answer. If none does, it throws the first server's error. */
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
