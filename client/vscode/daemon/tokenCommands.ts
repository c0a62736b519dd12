import * as vscode from 'vscode';
import type { RunnerOptions } from '../../../protocol/initialize.ts';
import type { TokenStore } from './secretStore.ts';
import { originsOf } from './servers.ts';

/** Stores and forgets access tokens: which server, then a password box. */
export function registerTokenCommands(tokens: TokenStore, settings: () => RunnerOptions): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand('runner.setAccessToken', async () => {
      const origin = await pickOrigin(settings(), 'A token for which server?');
      if (origin === undefined) return;
      const token = await vscode.window.showInputBox({
        title: `Access Token for ${origin}`,
        prompt: 'It is kept in the secret storage of the editor, and sent to this server alone.',
        password: true,
        ignoreFocusOut: true,
        validateInput: (text) => (/^[\x21-\x7e]*$/.test(text.trim()) ? undefined : 'A token has no blanks.'),
      });
      if (token?.trim()) await tokens.set(origin, token.trim());
    }),
    vscode.commands.registerCommand('runner.clearAccessToken', async () => {
      const origin = await pickOrigin(settings(), 'Forget the token of which server?');
      if (origin !== undefined) await tokens.clear(origin);
    }),
  );
}

/** The one there is, or the one that is chosen. */
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
