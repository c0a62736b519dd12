import * as vscode from 'vscode';
import { docsUrl } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { openSetting } from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';
import { toDocsAddress } from './docsAddress.ts';
import { type DocsTokens, fingerprintOf, refuses } from './docsTokens.ts';

/** The id in package.json. */
const providerId = 'runner.documents';
const label = 'Runner Documents';

/**
 * Offers the document service at `runner.docsUrl` to the editor's agents, with the token that is stored for its origin.
 * Without a token, no header is sent, and the editor signs in by itself.
 */
export function registerDocsServer(tokens: DocsTokens, reporter: ErrorReporter): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const refusals = createRefusals(tokens);
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
      if (await refuses(origin, token)) return refusals.report(origin, token);
      return definition(origin, { Authorization: `Bearer ${token}` }, server.version);
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

/** Reports that a service does not accept a token, once for each token, with two buttons that fix it. */
interface Refusals {
  /** Returns at once, without waiting for the user. The result undefined means that no server is started. */
  report(origin: string, token: string): undefined;
}

function createRefusals(tokens: DocsTokens): Refusals {
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
    if ((await tokens.get(origin)) !== token) await startServer();
  }
}

/** With a command of the editor. If the editor has no such command, its list of servers has the button. */
async function startServer(): Promise<void> {
  try {
    await vscode.commands.executeCommand('workbench.mcp.startServer', `model-runner.runner/${label}`);
  } catch {
    await vscode.commands.executeCommand('workbench.mcp.listServer');
  }
}
