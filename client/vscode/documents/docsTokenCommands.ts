import * as vscode from 'vscode';
import { plain } from '../notificationText.ts';
import { docsUrl } from '../settings.ts';
import { toDocsAddress } from './docsAddress.ts';
import type { DocsTokens } from './docsTokens.ts';

/** Stores and removes the token of the document service at `runner.docsUrl`. */
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
    validateInput: toAdvice,
  });
  return text?.trim() || undefined;
}

/** A service that asks another server about its tokens has tokens of any form. */
function toAdvice(text: string): vscode.InputBoxValidationMessage | undefined {
  const token = text.trim();
  const { Error: wrong, Warning: unusual } = vscode.InputBoxValidationSeverity;
  if (!/^[\x21-\x7e]*$/.test(token))
    return { severity: wrong, message: 'A token has no spaces. Paste only the token, without "Bearer".' };
  if (token === '' || 'rdocs_'.startsWith(token) || token.startsWith('rdocs_')) return undefined;
  return {
    severity: unusual,
    message: 'Tokens of runner-docs begin with rdocs_. Press Enter to keep this one.',
  };
}

/** Undefined, with a message, if there is none. */
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
