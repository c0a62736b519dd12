import type { Disposable } from 'vscode';
import * as vscode from 'vscode';
import { modelsDidChange } from '../../../protocol/messages/models.ts';
import { type Status, statusDidChange } from '../../../protocol/messages/status.ts';
import type { DaemonConnection } from './connection.ts';

/** The runner's state, its models or the settings changed: a page about them may be out of date. */
export type RunnerChanges = ReturnType<typeof createRunnerChanges>;

export function createRunnerChanges(daemon: DaemonConnection) {
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

interface StatusEvents {
  /** The runner came up, went down, or is another one. */
  readonly onDidTurn: () => void;
  /** The runner has finished a piece of work. */
  readonly onDidAnswer: () => void;
}

/** Reports turns of the status, not each notification; the first one is what everything began with. */
export function followStatus(
  daemon: Pick<DaemonConnection, 'onNotification'>,
  { onDidTurn, onDidAnswer }: StatusEvents,
): Disposable {
  let last: Status | undefined;
  return daemon.onNotification(statusDidChange, (status) => {
    if (status.state === 'checking') return;
    const before = last;
    last = status;
    if (!before) return;
    const wasOffline = before.state === 'offline';
    if (wasOffline !== (status.state === 'offline') || before.message !== status.message) onDidTurn();
    else if (before.state === 'busy') onDidAnswer();
  });
}
