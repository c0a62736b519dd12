import * as vscode from 'vscode';
import { modelsDidChange } from '../../../protocol/messages/models.ts';
import type { DaemonConnection } from './connection.ts';
import { followStatus } from './statusTurns.ts';

/** The runner's state, its models or the settings changed: a page about them may be out of date. */
export interface RunnerChanges extends vscode.Disposable {
  readonly onDidChange: vscode.Event<void>;
}

export function createRunnerChanges(daemon: DaemonConnection): RunnerChanges {
  const changed = new vscode.EventEmitter<void>();
  const fire = () => changed.fire();
  const listening = vscode.Disposable.from(
    changed,
    daemon.onDidConnect(fire),
    daemon.onNotification(modelsDidChange, fire),
    followStatus(daemon, { onDidTurn: fire, onDidAnswer: fire }),
    vscode.workspace.onDidChangeConfiguration(({ affectsConfiguration }) => {
      if (affectsConfiguration('runner')) fire();
    }),
  );
  return { onDidChange: changed.event, dispose: () => listening.dispose() };
}
