import * as vscode from 'vscode';
import type { ErrorReporter } from '../errorReporter.ts';
import { docsUrl } from '../settings.ts';
import { toDocsAddress } from './docsAddress.ts';
import { probeDocs } from './docsProbe.ts';
import { type DocsTokens, markOf } from './docsTokens.ts';
import { createRefusals } from './refusals.ts';

/** The id in package.json. */
const providerId = 'runner.documents';
const label = 'Runner Documents';

/**
 * Offers the document service at `runner.docsUrl` to the editor's agents, with the token that is stored for its origin.
 * Without a token, no header is sent, and the editor signs in by itself.
 */
export function registerDocsServer(tokens: DocsTokens, reporter: ErrorReporter): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const refusals = createRefusals(tokens, label);
  const provider: vscode.McpServerDefinitionProvider<vscode.McpHttpServerDefinition> = {
    onDidChangeMcpServerDefinitions: changed.event,
    async provideMcpServerDefinitions() {
      const address = toDocsAddress(docsUrl());
      if (address.kind === 'wrong') reporter.report(address.message, { showToUser: true });
      if (address.kind !== 'set') return [];
      const { origin } = address;
      return [definition(origin, {}, markOf(await tokens.get(origin)))];
    },
    async resolveMcpServerDefinition(server) {
      const { origin } = new URL(server.uri.toString(true));
      const token = await tokens.get(origin);
      if (token === undefined) return definition(origin, {}, server.version);
      if ((await probeDocs(origin, token)) === 'refused') return refusals.report(origin, token);
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

/** A new one each time, so that a header never gets into what the editor was offered. */
function definition(
  origin: string,
  headers: Record<string, string>,
  version: string | undefined,
): vscode.McpHttpServerDefinition {
  return new vscode.McpHttpServerDefinition(label, vscode.Uri.parse(`${origin}/mcp`), headers, version);
}
