import { createHash } from 'node:crypto';
import type * as vscode from 'vscode';

/** Tokens of document services, one for each origin, only in the editor's secret storage. */
export interface DocsTokens {
  get(origin: string): Promise<string | undefined>;
  set(origin: string, token: string): Promise<void>;
  clear(origin: string): Promise<void>;
  /** Calls back when any of them changes, in another window too. */
  onDidChange(take: () => void): vscode.Disposable;
}

/** Apart from the access tokens of runners, which are sent to the daemon: it never sees these. */
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
 * A different text for each token, so that the editor notices a new one. Eight digits of a hash reveal nothing about a
 * token of this length.
 */
export function markOf(token: string | undefined): string {
  return token === undefined ? 'no token' : createHash('sha256').update(token).digest('hex').slice(0, 8);
}
