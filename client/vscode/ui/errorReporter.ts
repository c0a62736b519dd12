import * as vscode from 'vscode';
import { messageOf, stackOf } from '../../../protocol/base/text.ts';
import { errorDataOf } from '../convert/failure.ts';
import { openNamedSetting, type Remedy, remediesFor, tryAgain, withTryAgain } from './remedies.ts';
import { plain } from './safeText.ts';

interface ReportOptions {
  /** What was in progress, such as `Pulling qwen3:4b`. */
  readonly during?: string;
  /** Also shows a notification, with the remedies as its buttons. */
  readonly showToUser?: boolean;
  /** Does the same once more. */
  readonly again?: () => unknown;
  /** Replace the usual remedies for the error. */
  readonly remedies?: readonly Remedy[];
}

/** Reports errors: the whole error to the log, and, if wanted, a sentence to the user, once. */
export type ErrorReporter = ReturnType<typeof createErrorReporter>;

/** `offered` leaves out the remedies that no server can follow. */
export function createErrorReporter(
  log: vscode.LogOutputChannel,
  offered: (remedies: readonly Remedy[]) => readonly Remedy[],
) {
  let shown: string | undefined;
  const show = async (sentence: string, buttons: readonly Remedy[], again?: () => unknown) => {
    shown = sentence;
    const titles = buttons.map(({ title }) => title);
    const choice = await vscode.window.showErrorMessage(plain(sentence), ...titles);
    if (shown === sentence) shown = undefined;
    const chosen = buttons.find(({ title }) => title === choice);
    if (!chosen) return;
    if (chosen === tryAgain) return void (await again?.());
    const isDone = await vscode.commands.executeCommand(chosen.command, ...(chosen.arguments ?? []));
    if (chosen.isBeforeRetry && isDone !== false) await again?.();
  };
  const report = (
    error: unknown,
    { during, showToUser = false, again, remedies }: ReportOptions = {},
  ): void => {
    const prefix = during === undefined ? '' : `${during}: `;
    log.error(prefix + stackOf(error));
    const sentence = prefix + messageOf(error);
    if (!showToUser || sentence === shown) return;
    const failure = errorDataOf(error);
    const own = offered(remedies ?? openNamedSetting(error) ?? remediesFor(failure));
    const buttons = again !== undefined && failure?.retryable ? withTryAgain(own) : own;
    void show(sentence, buttons, again).catch((reason) => log.error(stackOf(reason)));
  };
  return {
    report,
    /** Registers a command whose errors the user sees. After an error, its result is false. */
    registerCommand: (id: string, run: (argument?: unknown) => unknown, during?: string) =>
      vscode.commands.registerCommand(id, async (argument?: unknown) => {
        try {
          return await run(argument);
        } catch (error) {
          report(error, { showToUser: true, ...(during !== undefined && { during }) });
          return false;
        }
      }),
  };
}
