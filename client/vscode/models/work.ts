import * as vscode from 'vscode';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messageTypes.ts';
import type { DaemonConnection } from '../daemon/connection.ts';

/** Runs work that takes long under a notification with its progress and a button that cancels it. */
export async function runWork<P extends WorkDoneParams, R>(
  daemon: DaemonConnection,
  title: string,
  [message, params]: readonly [RequestMessage<P, R>, P],
): Promise<R | undefined> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    async (progress, token) => {
      let percentage = 0;
      try {
        return await daemon.requestWithProgress(message, params, {
          token,
          report(value) {
            if (value.kind !== 'report') return;
            const increment = Math.max(0, (value.percentage ?? 0) - percentage);
            percentage += increment;
            progress.report({ message: value.message, ...(increment === 0 ? {} : { increment }) });
          },
        });
      } catch (error) {
        if (token.isCancellationRequested) return undefined;
        throw error;
      }
    },
  );
}
