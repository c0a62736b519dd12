import * as vscode from 'vscode';
import { formatBytes } from '../../../protocol/base/text.ts';
import type { RequestMessage, WorkDoneParams } from '../../../protocol/messages/messageTypes.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import type { Remedy } from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';

/** Does work under a title in the status bar, which is shown until it ends. */
export function inStatusBar<T>(title: string, work: () => Thenable<T>): Thenable<T> {
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, work);
}

/** Shows a sentence in the status bar for five seconds. */
export function sayBriefly(sentence: string): void {
  vscode.window.setStatusBarMessage(sentence, 5_000);
}

/** Says something beside a button for what may come next. */
export async function offer(
  sentence: string,
  { title, command, arguments: given = [] }: Remedy,
): Promise<void> {
  const chosen = await vscode.window.showInformationMessage(plain(sentence), title);
  if (chosen === title) await vscode.commands.executeCommand(command, ...given);
}

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
      const speedOf = createDownloadSpeed();
      let shown = 0;
      try {
        return await daemon.requestWithProgress(message, params, {
          token,
          report(value) {
            if (value.kind !== 'report') return;
            const { percentage = shown, completed, total } = value;
            const speed = completed !== undefined && total !== undefined ? speedOf(completed, total) : '';
            const message = [value.message, speed].filter(Boolean).join(', ');
            // In percent since the last report.
            const increment = percentage - shown;
            shown = percentage;
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

/** In ms: the speed is measured over this time. */
const span = 10_000;
/** In ms: a speed measured over less would jump. */
const least = 2_000;

/** Measures a download: takes the bytes so far, and returns such as `12.3 MB/s, 4 min left`, or `""` at first. */
function createDownloadSpeed(): (completed: number, total: number) => string {
  let seen: { readonly at: number; readonly completed: number }[] = [];
  return (completed, total) => {
    const at = Date.now();
    const [first] = seen;
    // The count goes down if a layer starts over.
    if (first && completed < first.completed) seen = [];
    seen = [...seen.filter((one) => at - one.at <= span), { at, completed }];
    const [oldest] = seen;
    if (!oldest || at - oldest.at < least || completed <= oldest.completed) return '';
    const perSecond = ((completed - oldest.completed) / (at - oldest.at)) * 1000;
    return `${formatBytes(perSecond)}/s, ${inWords((total - completed) / perSecond)} left`;
  };
}

function inWords(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
