import * as vscode from 'vscode';
import type { ErrorReporter } from '../errorReporter.ts';

/** The editor's built-in extension for messages without a participant; disabled until somebody signs in or asks. */
const builtInChat = 'GitHub.copilot-chat';

/** Enables the editor's own chat, so that messages without `@runner` reach the runner's models too. */
export function registerEnableChat(reporter: ErrorReporter): vscode.Disposable {
  return vscode.commands.registerCommand('runner.enableChat', async () => {
    const action = 'Enable';
    const detail =
      'It works with your local models, signed out. It is not part of Runner: what it sends besides the chat is up to it. You can disable it again among the extensions.';
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
