import * as vscode from 'vscode';
import type { ErrorReporter } from '../errorReporter.ts';

/**
 * The editor's built-in extension for messages without a participant; disabled until the user signs in or enables it.
 */
export const builtInChat = 'GitHub.copilot-chat';

/** Enables the editor's own chat, so that messages without `@runner` reach the runner's models too. */
export function registerEnableChat(reporter: ErrorReporter): vscode.Disposable {
  return vscode.commands.registerCommand('runner.enableChat', async () => {
    const action = 'Enable';
    const detail =
      'It works with your local models, without a sign-in. It is not part of Runner, and Runner does not control what else it sends. You can disable it again in the Extensions view.';
    const answer = await vscode.window.showInformationMessage(
      `Enable the editor's built-in extension ${builtInChat}?`,
      { modal: true, detail },
      action,
    );
    if (answer !== action) return;
    try {
      const install = 'workbench.extensions.installExtension';
      await vscode.commands.executeCommand(install, builtInChat, { enable: true });
    } catch (error) {
      reporter.report(error, { during: 'Enabling the chat', showToUser: true });
    }
  });
}
