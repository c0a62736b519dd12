import * as vscode from 'vscode';
import { listModelsRequest, type Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { type Ability, productNames } from '../../../protocol/messages/status.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { type KnownServers, serverNames } from '../daemon/servers.ts';
import { readSettings } from '../settings.ts';
import { describeChoice, inOrder } from './modelDescriptions.ts';

/** How `pickModel` asks. */
interface ModelQuestion {
  /** Such as `Load Which Model?`. */
  readonly title: string;
  readonly fits?: (model: Model) => boolean;
  /** Added to the description of a model's entry. */
  readonly remark?: (model: Model) => string;
  /** Shown if no model fits. */
  readonly none?: string;
  /** An entry below the models. If it is chosen, it runs, and the result is undefined. */
  readonly last?: LastEntry;
}

interface LastEntry {
  readonly label: string;
  readonly description: string;
  readonly run: () => unknown;
}

/**
 * Asks for one of the installed models. Loaded ones come first, each has its size and its state, and several servers
 * have a separator each.
 */
export async function pickModel(
  daemon: DaemonConnection,
  { title, fits = () => true, remark = () => '', none = 'There is no such model.', last }: ModelQuestion,
): Promise<Model | undefined> {
  const models = await listEverywhere(daemon, serverNames(readSettings()));
  const isNamed = new Set(models.map(({ server }) => server)).size > 1;
  const items = inOrder(models.filter(fits)).flatMap(([server, of]): readonly ModelItem[] => [
    ...(isNamed ? [{ label: server, kind: vscode.QuickPickItemKind.Separator }] : []),
    ...of.map((model) => ({
      label: model.name,
      description: [describeChoice(model), remark(model)].filter(Boolean).join(' · '),
      model,
    })),
  ]);
  if (items.length === 0) return void vscode.window.showInformationMessage(none);
  const all: readonly ModelItem[] = last === undefined ? items : [...items, separator, last];
  const chosen = await vscode.window.showQuickPick(all, { title, matchOnDescription: true });
  await chosen?.run?.();
  return chosen?.model;
}

/** The models of all servers that answer. If none does, it throws the first server's error. */
async function listEverywhere(
  daemon: DaemonConnection,
  servers: readonly string[],
): Promise<readonly Model[]> {
  const asked = servers.map((server) => daemon.request(listModelsRequest, { server, refresh: true }));
  const answers = await Promise.allSettled(asked);
  const [first] = answers;
  if (first?.status === 'rejected' && answers.every(({ status }) => status === 'rejected'))
    throw first.reason;
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.models : []));
}

/** A separator and the last entry have no model. */
interface ModelItem extends vscode.QuickPickItem, Partial<Pick<LastEntry, 'run'>> {
  readonly model?: Model;
}

const separator: ModelItem = { label: '', kind: vscode.QuickPickItemKind.Separator };

/**
 * The server for work that no row has named one for: the one at `runner.host` if it can do it, or else one that can,
 * which the user chooses if there are several. If none can, the default one refuses with a sentence. Undefined if the
 * user leaves the list.
 */
export async function chooseServer(
  facts: Pick<KnownServers, 'those' | 'product'>,
  ability: Ability,
): Promise<{ readonly server?: string } | undefined> {
  const able = facts.those(ability);
  const [only, ...others] = able;
  if (only === undefined || able.includes(defaultServerName)) return {};
  if (others.length === 0) return { server: only };
  const items = able.map((label) => {
    const product = facts.product(label);
    return { label, description: product === undefined ? '' : productNames[product] };
  });
  const chosen = await vscode.window.showQuickPick(items, { title: 'On Which Server?' });
  return chosen && { server: chosen.label };
}
