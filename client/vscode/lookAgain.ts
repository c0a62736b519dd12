import * as vscode from 'vscode';
import { statusRequest } from '../../protocol/messages/status.ts';
import type { OfferedModels } from './chat/offeredModels.ts';
import type { DaemonConnection } from './daemon/connection.ts';

/** Milliseconds before the next look at such a runner: longer each time. */
const first = 3_000;
const longest = 60_000;

/**
 * Notices when a runner comes back whose models could not be listed. It looks while the user is at the window, and when
 * they return to it. It never asks a runner whose models are known.
 */
export function lookAgain(
  daemon: DaemonConnection,
  offered: Pick<OfferedModels, 'failures' | 'onDidChange' | 'refresh'>,
): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  let wait = first;
  let isDisposed = false;
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  /** The daemon announces what it finds to everybody, here too. */
  const isOffline = async (server: string) => {
    const status = await daemon.request(statusRequest, { server }).catch(() => undefined);
    return status === undefined || status.state === 'offline';
  };
  const look = () => {
    stop();
    if (isDisposed || !vscode.window.state.focused) return;
    timer = setTimeout(async () => {
      timer = undefined;
      wait = Math.min(wait * 2, longest);
      const answers = await Promise.all([...offered.failures.keys()].map(isOffline));
      if (answers.includes(false)) await offered.refresh();
      if (offered.failures.size > 0 && timer === undefined) look();
    }, wait);
  };
  return vscode.Disposable.from(
    new vscode.Disposable(() => {
      isDisposed = true;
      stop();
    }),
    offered.onDidChange(() => {
      if (offered.failures.size > 0) return timer === undefined ? look() : undefined;
      stop();
      wait = first;
    }),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (!focused || offered.failures.size === 0) return;
      wait = first;
      look();
    }),
  );
}
