import * as vscode from 'vscode';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messages/messageTypes.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { plain } from '../ui/safeText.ts';
import { createDownloadSpeed, createProgressSteps } from './pulls.ts';

/** Follows the work in addition to its notification, and may cancel it too. */
export interface WorkWatcher {
  readonly token: vscode.CancellationToken;
  report(progress: { readonly percentage?: number; readonly message: string }): void;
}

/** Runs a long request under a notification that shows its progress and has a button to cancel it. */
export async function runWork<P extends WorkDoneParams, R>(
  daemon: DaemonConnection,
  title: string,
  [message, params]: readonly [RequestMessage<P, R>, P],
  watcher?: WorkWatcher,
): Promise<R | undefined> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: plain(title), cancellable: true },
    async (progress, notified) => {
      const cancellation = cancelledByEither(notified, watcher?.token);
      const { token } = cancellation;
      const toSteps = createProgressSteps(createDownloadSpeed(Date.now));
      try {
        return await daemon.requestWithProgress(message, params, {
          token,
          report(value) {
            if (value.kind !== 'report') return;
            const { message, increment } = toSteps(value);
            watcher?.report({ ...value, message });
            progress.report({ message: plain(message), ...(increment === 0 ? {} : { increment }) });
          },
        });
      } catch (error) {
        if (token.isCancellationRequested) return undefined;
        throw error;
      } finally {
        cancellation.dispose();
      }
    },
  );
}

function cancelledByEither(...tokens: readonly (vscode.CancellationToken | undefined)[]) {
  const source = new vscode.CancellationTokenSource();
  const listening = tokens.map((token) => token?.onCancellationRequested(() => source.cancel()));
  const { token } = source;
  return {
    token,
    dispose() {
      for (const listener of listening) listener?.dispose();
      source.dispose();
    },
  };
}
