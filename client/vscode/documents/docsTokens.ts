import { createHash } from 'node:crypto';
import type { InputBoxValidationMessage, SecretStorage } from 'vscode';
import { isLoopback } from '../../../protocol/base/loopback.ts';

/** Tokens of document services, one for each origin. They are kept only in the editor's secret storage. */
export type DocsTokens = ReturnType<typeof createDocsTokens>;

/** Separate from the access tokens of runners: those are sent to the daemon, and these never are. */
const prefix = 'runner.docsToken ';

export function createDocsTokens(secrets: SecretStorage) {
  return {
    get: async (origin: string) => secrets.get(prefix + origin),
    set: async (origin: string, token: string) => secrets.store(prefix + origin, token),
    clear: async (origin: string) => secrets.delete(prefix + origin),
    /** Calls back when any of them changes, in another window too. */
    onDidChange: (take: () => void) =>
      secrets.onDidChange(({ key }) => void (key.startsWith(prefix) && take())),
  };
}

/**
 * A text that is different for each token, so that the editor notices a new one. Eight digits of a hash reveal nothing
 * about a token of this length.
 */
export function fingerprintOf(token: string | undefined): string {
  return token === undefined ? 'no token' : createHash('sha256').update(token).digest('hex').slice(0, 8);
}

/** Two numbers of `vscode.InputBoxValidationSeverity`. */
const severities = { warning: 2, error: 3 } as const;

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

/** The address in `runner.docsUrl`. */
export type DocsAddress =
  | { readonly kind: 'none' }
  | { readonly kind: 'wrong'; readonly message: string }
  /** The origin has no slash at its end: `https://docs.example.org`. */
  | { readonly kind: 'set'; readonly origin: string };

/** Reads the setting: the service's own address, with or without a slash or `/mcp` at its end. */
export function toDocsAddress(text: string): DocsAddress {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'none' };
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return wrong(trimmed, usualForm);
  if (url.username !== '' || url.password !== '')
    return { kind: 'wrong', message: `runner.docsUrl must not contain a user or a password. ${tokenAdvice}` };
  const isOpen = url.protocol === 'http:' && !isLoopback(url.origin);
  if (!/^\/(mcp\/?)?$/.test(url.pathname) || /[?#]/.test(trimmed))
    return wrong(trimmed, `${isOpen ? `https://${url.host}` : url.origin}, without a path`);
  if (isOpen)
    return {
      kind: 'wrong',
      message: `runner.docsUrl must begin with https:// unless the service runs on this machine. Without https, anybody on the way could read the documents and the token. Set https://${url.host}, if the service answers there.`,
    };
  return { kind: 'set', origin: url.origin };
}

const usualForm = 'http://127.0.0.1:4000';
const tokenAdvice = 'Use the command "Runner: Set Documents Token" instead.';

function wrong(text: string, example: string): DocsAddress {
  return {
    kind: 'wrong',
    message: `runner.docsUrl must be an address such as ${example}, not "${text}".`,
  };
}
