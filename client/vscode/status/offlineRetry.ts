import type { Disposable, window as editorWindow } from 'vscode';
import { statusRequest } from '../../../protocol/messages/status.ts';
import type { Clock } from '../../shared/clock.ts';
import type { OfferedModels } from '../chat/offeredModels.ts';
import type { DaemonConnection } from '../daemon/connection.ts';

/** In ms before the next try, which is doubled each time. */
const firstWait = 3_000;
const maxWait = 60_000;

export interface OfflineRetryOptions {
  readonly daemon: Pick<DaemonConnection, 'request'>;
  readonly offered: Pick<OfferedModels, 'failures' | 'onDidChange' | 'refresh'>;
  readonly clock: Clock;
  readonly window: Pick<typeof editorWindow, 'state' | 'onDidChangeWindowState'>;
}

/**
 * Notices when a runner comes back whose models could not be listed. It tries while the window has the focus, and when
 * the user returns to it. It never asks a runner whose models are known.
 */
export function retryOfflineServers({ daemon, offered, clock, window }: OfflineRetryOptions): Disposable {
  let cancel: (() => void) | undefined;
  let wait = firstWait;
  let isDisposed = false;
  const stop = () => {
    cancel?.();
    cancel = undefined;
  };
  /** The daemon also announces the state that it finds. */
  const isOffline = async (server: string) => {
    const status = await daemon.request(statusRequest, { server }).catch(() => undefined);
    return status === undefined || status.state === 'offline';
  };
  const tryLater = () => {
    stop();
    if (isDisposed || !window.state.focused) return;
    cancel = clock.after(wait, async () => {
      cancel = undefined;
      wait = Math.min(wait * 2, maxWait);
      const answers = await Promise.all([...offered.failures.keys()].map(isOffline));
      if (answers.includes(false)) await offered.refresh();
      if (offered.failures.size > 0) tryLater();
    });
  };
  const listeners = [
    offered.onDidChange(() => {
      if (offered.failures.size > 0) return cancel === undefined ? tryLater() : undefined;
      stop();
      wait = firstWait;
    }),
    window.onDidChangeWindowState(({ focused }) => {
      if (!focused || offered.failures.size === 0) return;
      wait = firstWait;
      tryLater();
    }),
  ];
  return {
    dispose() {
      isDisposed = true;
      stop();
      for (const listener of listeners) listener.dispose();
    },
  };
}
