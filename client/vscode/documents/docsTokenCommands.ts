import * as vscode from 'vscode';
import { docsUrl } from '../settings.ts';
import { plain } from '../ui/safeText.ts';
import { toDocsAddress } from './docsAddress.ts';
import { adviseOnToken, type DocsTokens } from './docsTokens.ts';

/** The commands that store and remove the token of the document service at `runner.docsUrl`. */
export function registerDocsTokenCommands(tokens: DocsTokens): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand('runner.setDocsToken', async () => {
      const origin = findOrigin();
      if (origin === undefined) return;
      const token = await askForToken(origin);
      if (token !== undefined) await tokens.set(origin, token);
    }),
    vscode.commands.registerCommand('runner.clearDocsToken', async () => {
      const origin = findOrigin();
      if (origin !== undefined) await tokens.clear(origin);
    }),
  );
}

async function askForToken(origin: string): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({
    title: `Documents Token for ${origin}`,
    prompt:
      '"runner-docs token create" prints one. It is kept in secret storage, and sent only to this address.',
    placeHolder: 'rdocs_…',
    password: true,
    ignoreFocusOut: true,
    validateInput: adviseOnToken,
  });
  return text?.trim() || undefined;
}

/** Undefined if the setting has no usable address; a message then says so. */
function findOrigin(): string | undefined {
  const address = toDocsAddress(docsUrl());
  if (address.kind === 'set') return address.origin;
  const missing =
    'Set runner.docsUrl first: the address of your document service, such as http://127.0.0.1:4000.';
  void offerSetting(address.kind === 'wrong' ? address.message : missing);
  return undefined;
}

async function offerSetting(message: string): Promise<void> {
  const open = 'Set Its Address';
  const answer = await vscode.window.showWarningMessage(plain(message), open);
  if (answer === open) await vscode.commands.executeCommand('runner.setDocsAddress');
}
