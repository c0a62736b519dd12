import * as vscode from 'vscode';
import { type Status, statusDidChange } from '../../protocol/messages/status.ts';
import type { OfferedModels } from './chat/offeredModels.ts';
import type { CompletionSwitch } from './completion/completionSwitch.ts';
import { describeServers } from './convert/serverFailure.ts';
import type { DaemonConnection } from './daemon/connection.ts';
import { serverNames } from './daemon/servers.ts';
import { messageOf } from './errorText.ts';
import { plain } from './notificationText.ts';
import { readSettings } from './settings.ts';

const icons = {
  checking: '$(sync~spin)',
  online: '$(server-process)',
  busy: '$(loading~spin)',
  offline: '$(warning)',
} as const;

/**
 * Shows the state of the runner in the status bar, and that completion is snoozed; the address is in the tooltip, and
 * how further servers are. A click offers what can be done.
 */
export function createStatusBar(
  daemon: DaemonConnection,
  completion: Pick<CompletionSwitch, 'wakesAt' | 'onDidTurn'>,
  offered: Pick<OfferedModels, 'failures' | 'onDidChange'>,
): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('runner.status', vscode.StatusBarAlignment.Right, 50);
  item.name = 'Runner';
  item.command = 'runner.showMenu';
  let last: Status = { state: 'checking', kind: 'ok', message: 'Looking for the runner.' };
  let further: readonly string[] = [];
  const show = (status: Status) => {
    last = status;
    const { state, kind } = status;
    const { wakesAt } = completion;
    const asleep = wakesAt === undefined ? '' : `Completion is snoozed until ${wakesAt}.`;
    item.text = `${icons[state]} Runner${state === 'offline' ? ': offline' : ''}${asleep && ' $(bell-slash)'}`;
    item.tooltip = tooltipOf(status, [...further, asleep]);
    item.accessibilityInformation = {
      label: `Runner, ${[status.message, asleep, further.join(', ')].filter(Boolean).join(' ')}`,
      role: 'button',
    };
    item.backgroundColor =
      kind === 'ok' ? undefined : new vscode.ThemeColor('statusBarItem.warningBackground');
    item.show();
  };
  show(last);
  return vscode.Disposable.from(
    item,
    completion.onDidTurn(() => show(last)),
    offered.onDidChange(() => {
      further = furtherServers(offered.failures);
      show(last);
    }),
    daemon.onNotification(statusDidChange, show),
    daemon.onDidFailToStart((error) =>
      show({ state: 'offline', kind: 'error', message: `The daemon does not start. ${messageOf(error)}` }),
    ),
  );
}

/** The sentence comes from outside in parts, so it has no links; those below it are ours. */
function tooltipOf({ state, message, version }: Status, lines: readonly string[]): vscode.MarkdownString {
  const links = state === 'offline' ? offlineLinks : [];
  const sentence = version === undefined ? message : `${message} Version ${version}.`;
  const row = links.map(([title, id]) => `[${title}](command:${id})`).join(' · ');
  const tooltip = new vscode.MarkdownString([plain(sentence), ...lines, row].filter(Boolean).join('\n\n'));
  tooltip.isTrusted = { enabledCommands: links.map(([, id]) => id) };
  return tooltip;
}

/** A line for each server beside the one of the status. */
function furtherServers(failures: OfferedModels['failures']): readonly string[] {
  const [, ...names] = serverNames(readSettings());
  return describeServers(names, failures).map(plain);
}

const offlineLinks = [
  ['Try Again', 'runner.tryAgain'],
  ['Set Address', 'runner.setAddress'],
  ['What Is Wrong?', 'runner.doctor'],
] as const;
