import * as vscode from 'vscode';
import { formatError, messageOf } from './errorText.ts';
import { plain } from './notificationText.ts';

export interface ReportOptions {
  /** What was in progress, such as `Pulling qwen3:4b`. */
  readonly during?: string;
  /** Also shows a notification. */
  readonly showToUser?: boolean;
}

/** Reports errors: the whole error to the log, and, if wanted, a sentence to the user, once. */
export interface ErrorReporter {
  report(error: unknown, options?: ReportOptions): void;
}

export function createErrorReporter(log: vscode.LogOutputChannel): ErrorReporter {
  let shown: string | undefined;
  return {
    report(error, { during, showToUser = false } = {}) {
      const prefix = during === undefined ? '' : `${during}: `;
      log.error(prefix + formatError(error));
      const sentence = prefix + messageOf(error);
      if (!showToUser || sentence === shown) return;
      shown = sentence;
      void vscode.window.showErrorMessage(plain(sentence), 'Show Log').then((choice) => {
        if (shown === sentence) shown = undefined;
        if (choice !== undefined) log.show();
      });
    },
  };
}
