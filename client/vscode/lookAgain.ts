import * as vscode from 'vscode';
import { statusDidChange, statusRequest } from '../../protocol/status.ts';
import type { DaemonConnection } from './daemon/connection.ts';

/** Milliseconds before a runner that is offline is looked for again: longer each time. */
const first = 3_000;
const longest = 60_000;

/**
 * Notices that a runner that was offline has come: while somebody is at the window, and when they come back to it. A
 * runner that answers is never asked.
 */
export function lookAgain(daemon: DaemonConnection): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  let wait = first;
  let isOffline = false;
  let isDisposed = false;
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const look = () => {
    stop();
    if (!vscode.window.state.focused) return;
    timer = setTimeout(async () => {
      timer = undefined;
      wait = Math.min(wait * 2, longest);
      // What it finds is told by the status, here too.
      const status = await daemon.request(statusRequest, {}).catch(() => undefined);
      // A daemon that ended meanwhile tells its status when it is there again.
      if (!isDisposed && isOffline && status?.state !== 'online' && timer === undefined) look();
    }, wait);
  };
  return vscode.Disposable.from(
    new vscode.Disposable(() => {
      isDisposed = true;
      stop();
    }),
    daemon.onNotification(statusDidChange, ({ state }) => {
      if (state === 'checking') return;
      isOffline = state === 'offline';
      if (isOffline && timer === undefined) look();
      if (isOffline) return;
      stop();
      wait = first;
    }),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (!focused || !isOffline) return;
      wait = first;
      look();
    }),
  );
}
