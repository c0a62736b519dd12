import type { Disposable, SecretStorage } from 'vscode';
import { isLoopback } from '../../../protocol/base/loopback.ts';
import type { SecretLine } from '../../../protocol/messages/initialize.ts';

/** Access tokens, one for each origin. They are kept only in the editor's secret storage. */
export type EditorTokenStore = ReturnType<typeof createTokenStore>;

const prefix = 'runner.token ';
/** Stored beside the token if the user has allowed plain http for it. */
const plainHttp = 'runner.plainHttp ';

export function createTokenStore(secrets: SecretStorage) {
  const lineFor = async (origin: string): Promise<SecretLine | undefined> => {
    const [secret, permission] = await Promise.all([
      secrets.get(prefix + origin),
      secrets.get(plainHttp + origin),
    ]);
    if (secret === undefined) return undefined;
    return { origin, secret, ...(permission === 'allowed' ? { allowPlainHttp: true } : {}) };
  };
  return {
    async set(
      origin: string,
      token: string,
      { allowPlainHttp = false }: Pick<SecretLine, 'allowPlainHttp'>,
    ): Promise<void> {
      // The token is stored last, because only its change is noticed.
      if (allowPlainHttp) await secrets.store(plainHttp + origin, 'allowed');
      else await secrets.delete(plainHttp + origin);
      await secrets.store(prefix + origin, token);
    },
    async clear(origin: string): Promise<void> {
      await secrets.delete(plainHttp + origin);
      await secrets.delete(prefix + origin);
    },
    /** A line for each of these origins that has a token. */
    async linesFor(origins: readonly string[]): Promise<readonly SecretLine[]> {
      const lines = await Promise.all(origins.map(lineFor));
      return lines.filter((line) => line !== undefined);
    },
    /** Calls back with each change. */
    onDidChange: (take: (line: SecretLine) => void): Disposable =>
      secrets.onDidChange(async ({ key }) => {
        if (!key.startsWith(prefix)) return;
        const origin = key.slice(prefix.length);
        take((await lineFor(origin)) ?? { origin, secret: null });
      }),
  };
}

/** What is wrong with a token that is typed; it never has spaces within, unless it is a user name and a password. */
export function problemOfToken(text: string): string | undefined {
  return /^[\x21-\x7e]*(?::[\x20-\x7e]*)?$/.test(text.trim()) ? undefined : 'A token has no spaces.';
}

/** Whether a token for this origin would be readable on the way. */
export function needsPlainHttp(origin: string): boolean {
  return origin.startsWith('http:') && !isLoopback(origin);
}
