import * as vscode from 'vscode';
import { plain } from '../notificationText.ts';
import type { DocsTokens } from './docsTokens.ts';

/** Reports that a service does not accept a token, once for each token, with the two ways out. */
export interface Refusals {
  /** Returns at once, without waiting for the user. Its result means that no server is started. */
  report(origin: string, token: string): undefined;
}

export function createRefusals(tokens: DocsTokens, label: string): Refusals {
  let reported: string | undefined;
  return {
    report(origin, token) {
      if (reported !== token) void ask(origin, token);
      reported = token;
      return undefined;
    },
  };

  async function ask(origin: string, token: string): Promise<void> {
    const [setToken, signIn] = ['Set Token', 'Sign In'] as const;
    const answer = await vscode.window.showWarningMessage(
      plain(
        `The document service at ${origin} does not accept the token: it is wrong, expired or revoked. Set another one, or let the editor sign in without one.`,
      ),
      setToken,
      signIn,
    );
    if (answer === undefined) return;
    if (answer === setToken) await vscode.commands.executeCommand('runner.setDocsToken');
    // A token that was set meanwhile stays.
    else if ((await tokens.get(origin)) === token) await tokens.clear(origin);
    if ((await tokens.get(origin)) !== token) await start(label);
  }
}

/** With a command of the editor. If the editor has no such command, its list of servers has the button. */
async function start(label: string): Promise<void> {
  const id = `${extensionId}/${label}`;
  try {
    await vscode.commands.executeCommand('workbench.mcp.startServer', id);
  } catch {
    await vscode.commands.executeCommand('workbench.mcp.listServer');
  }
}

const extensionId = 'model-runner.runner';
