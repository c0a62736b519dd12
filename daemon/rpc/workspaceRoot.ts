import { fileURLToPath } from 'node:url';
import type { InitializeParams } from 'vscode-languageserver/node';

/**
 * The folder of the workspace; undefined if there is none, or if it is not on this machine. Nobody has checked what the
 * editor sent, so an address that is no text counts as none.
 */
export function workspaceRoot({
  workspaceFolders,
  rootUri,
}: Pick<InitializeParams, 'workspaceFolders' | 'rootUri'>): string | undefined {
  const uri: unknown = workspaceFolders?.[0]?.uri ?? rootUri;
  if (typeof uri !== 'string' || !uri.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
