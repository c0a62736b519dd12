import * as vscode from 'vscode';
import { isLoopback } from '../../../protocol/address.ts';
import type { RunnerOptions } from '../../../protocol/initialize.ts';
import { plain } from '../notificationText.ts';
import type { TokenStore } from './secretStore.ts';
import { originsOf } from './servers.ts';

/** Stores and removes access tokens: asks for the server, then for the token. */
export function registerTokenCommands(tokens: TokenStore, settings: () => RunnerOptions): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand('runner.setServerToken', (row?: { readonly server?: unknown }) =>
      vscode.commands.executeCommand('runner.setAccessToken', row?.server),
    ),
    vscode.commands.registerCommand('runner.setAccessToken', async (server?: unknown) => {
      const given = typeof server === 'string' ? originOf(settings(), server) : undefined;
      const origin = given ?? (await pickOrigin(settings(), 'A Token for Which Server?'));
      if (origin === undefined) return;
      if (origin.startsWith('http:') && !isLoopback(origin)) return warnOfPlainHttp(origin);
      const token = await vscode.window.showInputBox({
        title: `Access Token for ${origin}`,
        prompt: 'It is kept in the secret storage of the editor, and sent only to this server.',
        password: true,
        ignoreFocusOut: true,
        validateInput: (text) => (/^[\x21-\x7e]*$/.test(text.trim()) ? undefined : 'A token has no spaces.'),
      });
      if (token?.trim()) await tokens.set(origin, token.trim());
    }),
    vscode.commands.registerCommand('runner.clearAccessToken', async () => {
      const origin = await pickOrigin(settings(), 'Clear the Token of Which Server?');
      if (origin !== undefined) await tokens.clear(origin);
    }),
  );
}

/** The daemon would not send such a token, because anybody on the way could read it. */
function warnOfPlainHttp(origin: string): void {
  void vscode.window.showWarningMessage(
    plain(
      `A token is never sent to ${origin}: without https anybody on the way could read it. Set an https address.`,
    ),
  );
}

function originOf(settings: RunnerOptions, server: string): string | undefined {
  return originsOf(settings, process.env['OLLAMA_HOST']).get(server);
}

/** The only origin, or the one that the user picks. */
async function pickOrigin(settings: RunnerOptions, title: string): Promise<string | undefined> {
  const items = [...originsOf(settings, process.env['OLLAMA_HOST'])].map(([name, origin]) => ({
    label: name,
    description: origin,
    origin,
  }));
  const [only] = items;
  if (only && items.length === 1) return only.origin;
  return (await vscode.window.showQuickPick(items, { title }))?.origin;
}
