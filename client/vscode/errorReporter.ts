import * as vscode from 'vscode';
import { errorDataOf } from './convert/failure.ts';
import { formatError, messageOf } from './errorText.ts';
import { plain } from './notificationText.ts';
import { openNamedSetting, type WayOut, waysOutOf } from './waysOut.ts';

export interface ReportOptions {
  /** What was in progress, such as `Pulling qwen3:4b`. */
  readonly during?: string;
  /** Also shows a notification, with buttons that mend the error. */
  readonly showToUser?: boolean;
  /** Does the same once more. */
  readonly again?: () => unknown;
  /** The steps that help here, in place of those that the error's kind has. */
  readonly ways?: readonly WayOut[];
}

/** Reports errors: the whole error to the log, and, if wanted, a sentence to the user, once. */
export interface ErrorReporter {
  report(error: unknown, options?: ReportOptions): void;
}

export function createErrorReporter(log: vscode.LogOutputChannel): ErrorReporter {
  let shown: string | undefined;
  const show = async (sentence: string, buttons: readonly WayOut[], again?: () => unknown) => {
    shown = sentence;
    const titles = buttons.map(({ title }) => title);
    const choice = await vscode.window.showErrorMessage(plain(sentence), ...titles);
    if (shown === sentence) shown = undefined;
    const way = buttons.find(({ title }) => title === choice);
    if (!way) return;
    if (way === tryAgain) return void (await again?.());
    const isDone = await vscode.commands.executeCommand(way.command, ...(way.arguments ?? []));
    if (way.isBeforeRetry && isDone !== false) await again?.();
  };
  return {
    report(error, { during, showToUser = false, again, ways } = {}) {
      const prefix = during === undefined ? '' : `${during}: `;
      log.error(prefix + formatError(error));
      const sentence = prefix + messageOf(error);
      if (!showToUser || sentence === shown) return;
      const failure = errorDataOf(error);
      const own = ways ?? openNamedSetting(error) ?? waysOutOf(failure);
      // A step that is followed by another try needs no button for that beside it.
      const isRetried = own.some(({ isBeforeRetry }) => isBeforeRetry);
      const canRetry = again !== undefined && failure?.retryable === true && !isRetried;
      const buttons = canRetry ? [tryAgain, ...own] : own;
      void show(sentence, buttons, again).catch((reason) => log.error(formatError(reason)));
    },
  };
}

const tryAgain: WayOut = { title: 'Try Again', command: '' };
