import * as vscode from 'vscode';
import type { RunnerOptions } from '../../../protocol/messages/settings.ts';
import { originsOf } from './servers.ts';
import { type EditorTokenStore, needsPlainHttp, problemOfToken } from './tokenStore.ts';

/** The commands that store and remove access tokens. They ask for the server, then for the token. */
export function registerTokenCommands(
  tokens: EditorTokenStore,
  settings: () => RunnerOptions,
): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand('runner.setServerToken', (row?: { readonly server?: unknown }) =>
      vscode.commands.executeCommand('runner.setAccessToken', row?.server),
    ),
    vscode.commands.registerCommand('runner.setAccessToken', async (server?: unknown) => {
      const given = typeof server === 'string' ? originsOf(settings()).get(server) : undefined;
      const origin = given ?? (await pickOrigin(settings(), 'A Token for Which Server?'));
      if (origin === undefined) return;
      const token = await vscode.window.showInputBox({
        title: `Access Token for ${origin}`,
        prompt:
          'It is kept in the secret storage of the editor, and sent only to this server. For a user name and a password, type user:password.',
        password: true,
        ignoreFocusOut: true,
        validateInput: problemOfToken,
      });
      if (!token?.trim()) return;
      const allowPlainHttp = needsPlainHttp(origin) ? await askForPlainHttp(origin) : false;
      if (allowPlainHttp !== undefined) await tokens.set(origin, token.trim(), { allowPlainHttp });
    }),
    vscode.commands.registerCommand('runner.clearAccessToken', async () => {
      const origin = await pickOrigin(settings(), 'Clear the Token of Which Server?');
      if (origin !== undefined) await tokens.clear(origin);
    }),
  );
}

/** Without this permission the daemon does not send the token. Undefined if the user cancels. */
export async function askForPlainHttp(origin: string): Promise<boolean | undefined> {
  const keep = 'Keep It Unsent';
  const send = 'Send over Plain Http';
  const detail =
    'Without https, anybody on the way can read the token. If it is kept unsent, the status of the runner says so.';
  const question = `Send the token to ${origin} over plain http?`;
  // The first button is the one that Enter takes.
  const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, keep, send);
  return answer === undefined ? undefined : answer === send;
}

/** The only origin, or the one that the user picks. */
async function pickOrigin(settings: RunnerOptions, title: string): Promise<string | undefined> {
  const items = [...originsOf(settings)].map(([name, origin]) => ({
    label: name,
    description: origin,
    origin,
  }));
  const [only] = items;
  if (only && items.length === 1) return only.origin;
  return (await vscode.window.showQuickPick(items, { title }))?.origin;
}
