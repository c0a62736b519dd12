import * as vscode from 'vscode';
import { statusDidChange } from '../../../protocol/status.ts';
import type { OfferedModels } from '../chat/offeredModels.ts';
import type { DaemonConnection } from '../daemon/connection.ts';

export interface WalkthroughParts {
  readonly daemon: DaemonConnection;
  readonly offered: Pick<OfferedModels, 'preferred' | 'onDidChange'>;
}

/**
 * Opens the first steps: the pages in this folder, in the order of the manifest. A step is ticked by what happened: the
 * runner answers, or there is a model that can chat.
 */
export function registerWalkthrough(
  extensionId: string,
  { daemon, offered }: WalkthroughParts,
): vscode.Disposable {
  const set = (key: string, value: boolean) =>
    void vscode.commands.executeCommand('setContext', `runner.${key}`, value);
  return vscode.Disposable.from(
    daemon.onNotification(statusDidChange, ({ state }) =>
      set('isOnline', state === 'online' || state === 'busy'),
    ),
    offered.onDidChange(() => set('hasModel', offered.preferred !== undefined)),
    vscode.commands.registerCommand('runner.openWalkthrough', () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extensionId}#start`, false),
    ),
  );
}
