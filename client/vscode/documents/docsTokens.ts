import { createHash } from 'node:crypto';
import type { Disposable, InputBoxValidationMessage, SecretStorage } from 'vscode';
import { severities } from '../ui/severities.ts';

/** Tokens of document services, one for each origin. They are kept only in the editor's secret storage. */
export interface DocsTokens {
  get(origin: string): Promise<string | undefined>;
  set(origin: string, token: string): Promise<void>;
  clear(origin: string): Promise<void>;
  /** Calls back when any of them changes, in another window too. */
  onDidChange(take: () => void): Disposable;
}

/** Separate from the access tokens of runners: those are sent to the daemon, and these never are. */
const prefix = 'runner.docsToken ';

export function createDocsTokens(secrets: SecretStorage): DocsTokens {
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

/** Any form is accepted: a service that asks another server about its tokens has tokens of any form. */
export function adviseOnToken(text: string): InputBoxValidationMessage | undefined {
  const token = text.trim();
  if (!/^[\x21-\x7e]*$/.test(token))
    return {
      severity: severities.error,
      message: 'A token has no spaces. Paste only the token, without "Bearer".',
    };
  if ('rdocs_'.startsWith(token) || token.startsWith('rdocs_')) return undefined;
  return {
    severity: severities.warning,
    message: 'Tokens of runner-docs begin with rdocs_. Press Enter to keep this one.',
  };
}

/** In ms. The editor is about to use the service anyway, and then reports why it does not answer. */
const probeLimit = 5_000;

/** Whether a document service clearly refuses a token, asked with the cheapest request. */
export async function refuses(origin: string, token: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      // A redirect would send the token wherever the answer says.
      redirect: 'manual',
      signal: AbortSignal.timeout(probeLimit),
    });
    await response.body?.cancel();
    return response.status === 401;
  } catch {
    return false;
  }
}
