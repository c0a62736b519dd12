import type * as vscode from 'vscode';
import type { SecretLine } from '../../../protocol/messages/secrets.ts';

/** Access tokens, one for each origin, only in the editor's secret storage. */
export interface TokenStore {
  set(origin: string, token: string, permission: Pick<SecretLine, 'allowPlainHttp'>): Promise<void>;
  clear(origin: string): Promise<void>;
  /** A line for each of these origins that has a token. */
  linesFor(origins: readonly string[]): Promise<readonly SecretLine[]>;
  /** Calls back with each change. */
  onDidChange(take: (line: SecretLine) => void): vscode.Disposable;
}

const prefix = 'runner.token ';
/** Beside the token, where the user has allowed that it is sent over plain http. */
const plainHttp = 'runner.plainHttp ';

export function createTokenStore(secrets: vscode.SecretStorage): TokenStore {
  const lineFor = async (origin: string): Promise<SecretLine | undefined> => {
    const [secret, permission] = await Promise.all([
      secrets.get(prefix + origin),
      secrets.get(plainHttp + origin),
    ]);
    if (secret === undefined) return undefined;
    return { origin, secret, ...(permission === 'allowed' ? { allowPlainHttp: true } : {}) };
  };
  return {
    async set(origin, token, { allowPlainHttp = false }) {
      // The token comes last: its change is what is noticed.
      if (allowPlainHttp) await secrets.store(plainHttp + origin, 'allowed');
      else await secrets.delete(plainHttp + origin);
      await secrets.store(prefix + origin, token);
    },
    async clear(origin) {
      await secrets.delete(plainHttp + origin);
      await secrets.delete(prefix + origin);
    },
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
