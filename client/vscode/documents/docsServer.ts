import * as vscode from 'vscode';
import { docsUrl } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { openSetting } from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';
import { adviseOnToken, type DocsTokens, fingerprintOf, refuses, toDocsAddress } from './docsTokens.ts';

/** The id in package.json. */
const providerId = 'runner.documents';
const label = 'Runner Documents';

/**
 * Offers the document service at `runner.docsUrl` to the editor's agents, with the token that is stored for its origin.
 * Without a token, no header is sent, and the editor signs in by itself.
 */
export function registerDocsServer(tokens: DocsTokens, reporter: ErrorReporter): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const reportRefusal = createRefusalReport(tokens);
  const provider: vscode.McpServerDefinitionProvider<vscode.McpHttpServerDefinition> = {
    onDidChangeMcpServerDefinitions: changed.event,
    async provideMcpServerDefinitions() {
      const address = toDocsAddress(docsUrl());
      if (address.kind === 'wrong')
        reporter.report(address.message, { showToUser: true, remedies: [openSetting('runner.docsUrl')] });
      if (address.kind !== 'set') return [];
      const { origin } = address;
      return [definition(origin, {}, fingerprintOf(await tokens.get(origin)))];
    },
    async resolveMcpServerDefinition(server) {
      const { origin } = new URL(server.uri.toString(true));
      const token = await tokens.get(origin);
      if (token === undefined) return definition(origin, {}, server.version);
      if (!(await refuses(origin, token)))
        return definition(origin, { Authorization: `Bearer ${token}` }, server.version);
      reportRefusal(origin, token);
      // No server is started.
      return undefined;
    },
  };
  return vscode.Disposable.from(
    changed,
    vscode.lm.registerMcpServerDefinitionProvider(providerId, provider),
    tokens.onDidChange(() => changed.fire()),
    vscode.workspace.onDidChangeConfiguration(
      (event) => event.affectsConfiguration('runner.docsUrl') && changed.fire(),
    ),
  );
}

/** Always a new object, so that a token never gets into the definitions that the editor was offered. */
function definition(
  origin: string,
  headers: Record<string, string>,
  version: string | undefined,
): vscode.McpHttpServerDefinition {
  return new vscode.McpHttpServerDefinition(label, vscode.Uri.parse(`${origin}/mcp`), headers, version);
}

/**
 * Says that a service does not accept a token, once for each token, with two buttons that fix it. It returns at once,
 * without waiting for the user.
 */
function createRefusalReport(tokens: DocsTokens): (origin: string, token: string) => void {
  let reported: string | undefined;
  const ask = async (origin: string, token: string) => {
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
    if ((await tokens.get(origin)) !== token) await startServer();
  };
  return (origin, token) => {
    if (reported !== token) void ask(origin, token);
    reported = token;
  };
}

/** With a command of the editor. If the editor has no such command, its list of servers has the button. */
async function startServer(): Promise<void> {
  try {
    await vscode.commands.executeCommand('workbench.mcp.startServer', `model-runner.runner/${label}`);
  } catch {
    await vscode.commands.executeCommand('workbench.mcp.listServer');
  }
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
