import * as vscode from 'vscode';
import { type Status, statusDidChange } from '../../protocol/messages/status.ts';
import type { CompletionSwitch } from './completion/completionSwitch.ts';
import type { DaemonConnection } from './daemon/connection.ts';
import { setAddress, setToken, showDoctor, type WayOut } from './waysOut.ts';

/** What a click on the status bar offers: the state of the runner as the title, what mends it first. */
export function registerStatusMenu(
  daemon: DaemonConnection,
  completion: Pick<CompletionSwitch, 'entries'>,
): vscode.Disposable {
  let status: Status | undefined;
  return vscode.Disposable.from(
    daemon.onNotification(statusDidChange, (changed) => {
      status = changed;
    }),
    vscode.commands.registerCommand('runner.showMenu', async () => {
      const items = [...entriesOf(status), ...completion.entries(), ...last].map((way) => ({
        label: way.title,
        way,
      }));
      const title = status?.message ?? 'Looking for the runner.';
      const chosen = await vscode.window.showQuickPick(items, { title });
      if (chosen) await vscode.commands.executeCommand(chosen.way.command, ...(chosen.way.arguments ?? []));
    }),
  );
}

function entriesOf(status: Status | undefined): readonly WayOut[] {
  const isWell = status?.kind === 'ok';
  return [
    ...(isWell ? [] : [{ title: '$(refresh) Try Again', command: 'runner.tryAgain' }]),
    { ...setAddress(), title: '$(server) Set Address…' },
    ...(isWell ? [] : [{ ...setToken(), title: '$(key) Set Token…' }]),
    { title: '$(comment-discussion) Choose the Chat Model…', command: 'runner.chooseChatModel' },
  ];
}

const last: readonly WayOut[] = [
  { ...showDoctor, title: '$(pulse) Doctor' },
  { title: '$(output) Show Log', command: 'runner.showLog' },
];
