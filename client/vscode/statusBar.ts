import * as vscode from 'vscode';
import { type Status, statusDidChange } from '../../protocol/status.ts';
import type { DaemonConnection } from './daemon/connection.ts';
import { messageOf } from './errorText.ts';

const icons = {
  checking: '$(sync~spin)',
  online: '$(server-process)',
  busy: '$(loading~spin)',
  offline: '$(warning)',
} as const;

/** Shows the state of the runner in the status bar; a click shows more. */
export function createStatusBar(daemon: DaemonConnection): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('runner.status', vscode.StatusBarAlignment.Right, 50);
  item.name = 'Runner';
  item.command = 'runner.doctor';
  const show = ({ state, kind, message, version }: Status) => {
    item.text = `${icons[state]} Runner${state === 'offline' ? ': offline' : ''}`;
    item.tooltip = version === undefined ? message : `${message} Version ${version}.`;
    item.backgroundColor =
      kind === 'ok' ? undefined : new vscode.ThemeColor('statusBarItem.warningBackground');
    item.show();
  };
  show({ state: 'checking', kind: 'ok', message: 'Looking for the runner.' });
  return vscode.Disposable.from(
    item,
    daemon.onNotification(statusDidChange, show),
    daemon.onDidFailToStart((error) =>
      show({ state: 'offline', kind: 'error', message: `The daemon does not start. ${messageOf(error)}` }),
    ),
  );
}
