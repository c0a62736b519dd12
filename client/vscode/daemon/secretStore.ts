import type * as vscode from 'vscode';
import type { SecretLine } from '../../../protocol/secrets.ts';

/** Access tokens, one for each origin, only in the editor's secret storage. */
export interface TokenStore {
  set(origin: string, token: string): Promise<void>;
  clear(origin: string): Promise<void>;
  /** A line for each of these origins that has a token. */
  linesFor(origins: readonly string[]): Promise<readonly SecretLine[]>;
  /** Calls back with each change. */
  onDidChange(take: (line: SecretLine) => void): vscode.Disposable;
}

const prefix = 'runner.token ';

export function createTokenStore(secrets: vscode.SecretStorage): TokenStore {
  const lineFor = async (origin: string): Promise<SecretLine | undefined> => {
    const secret = await secrets.get(prefix + origin);
    return secret === undefined ? undefined : { origin, secret };
  };
  return {
    set: async (origin, token) => secrets.store(prefix + origin, token),
    clear: async (origin) => secrets.delete(prefix + origin),
    async linesFor(origins) {
      const lines = await Promise.all(origins.map(lineFor));
      return lines.filter((line) => line !== undefined);
    },
    onDidChange: (take) =>
      secrets.onDidChange(async ({ key }) => {
        if (!key.startsWith(prefix)) return;
        const origin = key.slice(prefix.length);
        take((await lineFor(origin)) ?? { origin, secret: null });
      }),
  };
}
