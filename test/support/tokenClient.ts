import { createHash } from 'node:crypto';
import type { DocsService } from './docsProcess.ts';
import { answerOf, openFormBrowser, signIn } from './formBrowser.ts';
import { poll } from './waiting.ts';

const verifier = 'v'.repeat(43);
const redirectUri = 'http://localhost:8787/callback';

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly client_id: string;
}

/** A client registers and asks at one instance, where the owner says yes, and fetches its tokens from the other. */
export async function letIn(one: DocsService, other: DocsService): Promise<Tokens> {
  const registered = await fetch(`${one.origin}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [redirectUri], client_name: 'Test' }),
  });
  const { client_id } = (await registered.json()) as { client_id: string };
  const asked = new URLSearchParams({
    ...{ response_type: 'code', client_id, redirect_uri: redirectUri, state: 's', scope: 'read' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const browser = openFormBrowser(one.origin);
  await signIn(browser, `/authorize?${asked}`);
  const code = answerOf(await browser.submit({ decision: 'allow' })).get('code') ?? '';
  const redeemed = await post(other, '/token', {
    ...{ grant_type: 'authorization_code', code, client_id, redirect_uri: redirectUri },
    code_verifier: verifier,
  });
  return { ...((await redeemed.json()) as Omit<Tokens, 'client_id'>), client_id };
}

export function refresh(service: DocsService, { refresh_token, client_id }: Tokens): Promise<Response> {
  return post(service, '/token', { grant_type: 'refresh_token', refresh_token, client_id });
}

export function post(
  service: DocsService,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(service.origin + path, { method: 'POST', body: new URLSearchParams(fields) });
}

/** Until a token that was revoked is refused, which takes at most a second on every instance. */
export async function untilDead(service: DocsService, token: string): Promise<void> {
  await poll(
    () => service.get('/api/v1/docs', token),
    ({ status }) => status === 401,
  );
}
