import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { docsUrl } from '../settings.ts';
import { plain } from '../ui/safeText.ts';
import { toDocsAddress } from './docsAddress.ts';

/** Tokens of document services, one for each origin. They are kept only in the editor's secret storage. */
export interface DocsTokens {
  get(origin: string): Promise<string | undefined>;
  set(origin: string, token: string): Promise<void>;
  clear(origin: string): Promise<void>;
  /** Calls back when any of them changes, in another window too. */
  onDidChange(take: () => void): vscode.Disposable;
}

/** Separate from the access tokens of runners: those are sent to the daemon, and these never are. */
const prefix = 'runner.docsToken ';

export function createDocsTokens(secrets: vscode.SecretStorage): DocsTokens {
  return {
    get: async (origin) => secrets.get(prefix + origin),
    set: async (origin, token) => secrets.store(prefix + origin, token),
    clear: async (origin) => secrets.delete(prefix + origin),
    onDidChange: (take) => secrets.onDidChange(({ key }) => void (key.startsWith(prefix) && take())),
  };
}

/**
 * A text that is different for each token, so that the editor notices a new one. Eight digits of a hash reveal nothing
 * about a token of this length.
 */
export function fingerprintOf(token: string | undefined): string {
  return token === undefined ? 'no token' : createHash('sha256').update(token).digest('hex').slice(0, 8);
}

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

/** Any form is accepted: a service that asks another server about its tokens has tokens of any form. */
function adviseOnToken(text: string): vscode.InputBoxValidationMessage | undefined {
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
