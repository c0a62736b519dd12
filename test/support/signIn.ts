import { createHash } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import type { AppOptions } from '../../docs-service/app.ts';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { openTestApp, type TestApp } from './docsApp.ts';
import { answerOf, FormBrowser, hashOwnerPassword, signIn } from './formBrowser.ts';

export const verifier = 'a-verifier-of-at-least-forty-three-characters';
export const challenge = createHash('sha256').update(verifier).digest('base64url');
export const redirectUri = 'http://127.0.0.1:50000/callback';

interface Teardown {
  teardown(work: () => unknown): void;
}

export interface SignInApp extends TestApp {
  /** Registered, with one redirect address. */
  readonly client: string;
  /** A browser with no cookies. */
  openBrowser(): FormBrowser;
  /** What the client sends the browser to; a value of undefined leaves a parameter out. */
  authorizeUrl(changes?: Readonly<Record<string, string | undefined>>): string;
  /** Signs in where that is asked for, and says yes to all. */
  allow(
    changes?: Readonly<Record<string, string | undefined>>,
    browser?: FormBrowser,
  ): Promise<URLSearchParams>;
  /** Posts a form as a client does, with a token, or a name and a colon for HTTP Basic. */
  post(
    path: string,
    fields: Readonly<Record<string, string | undefined>>,
    credentials?: string,
  ): Promise<LightMyRequestResponse>;
  /** Redeems a code at the token endpoint. */
  redeem(
    code: string,
    changes?: Readonly<Record<string, string | undefined>>,
    credentials?: string,
  ): Promise<LightMyRequestResponse>;
  setClock(now: number): void;
  readonly now: () => number;
}

interface SignInAppOptions extends Partial<AppOptions> {
  readonly files?: Readonly<Record<string, string>>;
  readonly hasPassword?: boolean;
}

/** The service with an owner, a client and a clock that is set by hand. */
export async function openSignInApp(
  t: Teardown,
  { files = {}, hasPassword = true, ...overrides }: SignInAppOptions = {},
): Promise<SignInApp> {
  let now = Date.UTC(2026, 10, 22);
  const app = await openTestApp(t, { 'one.md': '# One', ...files }, { now: () => now, ...overrides });
  if (hasPassword) await app.access.owners.setPassword({ password: hashOwnerPassword() });
  const { origin, host, path: root } = overrides.baseUrl ?? parseBaseUrl('http://127.0.0.1:4000');
  const registered = await app.app.inject({
    method: 'POST',
    url: `${root}/register`,
    headers: { host },
    payload: { redirect_uris: [redirectUri], client_name: 'Test client' },
  });
  const client = String(registered.json().client_id);
  const openBrowser = () =>
    new FormBrowser(origin, async ({ method, url, headers, payload }) => {
      const answer = await app.app.inject({
        method,
        url,
        headers,
        ...(payload === undefined ? {} : { payload }),
      });
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    });
  const authorizeUrl: SignInApp['authorizeUrl'] = (changes = {}) =>
    `${root}/authorize?${form({
      ...{ response_type: 'code', client_id: client, redirect_uri: redirectUri, state: 'a state & more' },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', scope: 'read' },
      ...changes,
    })}`;
  const post: SignInApp['post'] = (path, fields, credentials) =>
    app.app.inject({
      method: 'POST',
      url: root + path,
      headers: {
        host,
        'content-type': 'application/x-www-form-urlencoded',
        ...(credentials === undefined ? {} : { authorization: authorizationOf(credentials) }),
      },
      payload: form(fields),
    });
  return {
    ...app,
    ...{ client, openBrowser, authorizeUrl, post, now: () => now },
    async allow(changes = {}, browser = openBrowser()) {
      await signIn(browser, authorizeUrl(changes));
      return answerOf(await browser.submit({ decision: 'allow' }));
    },
    redeem: (code, changes = {}, credentials) => {
      const asked = { grant_type: 'authorization_code', code, client_id: client, redirect_uri: redirectUri };
      return post('/token', { ...asked, code_verifier: verifier, ...changes }, credentials);
    },
    setClock: (time) => {
      now = time;
    },
  };
}

function authorizationOf(credentials: string): string {
  return credentials.includes(':')
    ? `Basic ${Buffer.from(credentials).toString('base64')}`
    : `Bearer ${credentials}`;
}

function form(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(given).toString();
}
