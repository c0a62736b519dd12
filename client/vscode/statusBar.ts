import * as vscode from 'vscode';
import { type Status, statusDidChange } from '../../protocol/status.ts';
import type { DaemonConnection } from './daemon/connection.ts';
import { messageOf } from './errorText.ts';
import { plain } from './notificationText.ts';

const icons = {
  checking: '$(sync~spin)',
  online: '$(server-process)',
  busy: '$(loading~spin)',
  offline: '$(warning)',
} as const;

/** Shows the state of the runner in the status bar, its address in the tooltip; a click offers what can be done. */
export function createStatusBar(daemon: DaemonConnection): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('runner.status', vscode.StatusBarAlignment.Right, 50);
  item.name = 'Runner';
  item.command = 'runner.showMenu';
  const show = (status: Status) => {
    const { state, kind } = status;
    item.text = `${icons[state]} Runner${state === 'offline' ? ': offline' : ''}`;
    item.tooltip = tooltipOf(status);
    item.accessibilityInformation = { label: `Runner, ${status.message}`, role: 'button' };
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

/** The sentence comes from outside in parts, so it has no links; those below it are ours. */
function tooltipOf({ state, message, version }: Status): vscode.MarkdownString {
  const links = state === 'offline' ? offlineLinks : [];
  const sentence = version === undefined ? message : `${message} Version ${version}.`;
  const row = links.map(([title, id]) => `[${title}](command:${id})`).join(' · ');
  const tooltip = new vscode.MarkdownString([plain(sentence), row].filter(Boolean).join('\n\n'));
  tooltip.isTrusted = { enabledCommands: links.map(([, id]) => id) };
  return tooltip;
}

const offlineLinks = [
  ['Try Again', 'runner.tryAgain'],
  ['Set Address', 'runner.setAddress'],
  ['What Is Wrong?', 'runner.doctor'],
] as const;
