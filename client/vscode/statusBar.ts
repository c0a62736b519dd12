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

/** Shows the state of the runner in the status bar, its address in the tooltip; a click offers what can be done. */
export function createStatusBar(daemon: DaemonConnection): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('runner.status', vscode.StatusBarAlignment.Right, 50);
  item.name = 'Runner';
  item.command = 'runner.showMenu';
  const show = (status: Status) => {
    const { state, kind } = status;
    item.text = `${icons[state]} Runner${state === 'offline' ? ': offline' : ''}`;
    item.tooltip = tooltipOf(status);
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

/** The sentence comes from outside in parts; the links below it are ours. */
function tooltipOf({ state, message, version }: Status): vscode.MarkdownString {
  const tooltip = new vscode.MarkdownString();
  tooltip.appendText(version === undefined ? message : `${message} Version ${version}.`);
  const links = state === 'offline' ? offlineLinks : [];
  if (links.length > 0)
    tooltip.appendMarkdown(`\n\n${links.map(([title, id]) => `[${title}](command:${id})`).join(' · ')}`);
  tooltip.isTrusted = { enabledCommands: links.map(([, id]) => id) };
  return tooltip;
}

const offlineLinks = [
  ['Try Again', 'runner.tryAgain'],
  ['Set Address', 'runner.setAddress'],
  ['What Is Wrong?', 'runner.doctor'],
] as const;
