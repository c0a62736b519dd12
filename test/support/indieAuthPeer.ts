import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { places } from './parts.ts';
import { temporaryFolder } from './temporaryFolder.ts';

const python = join(places.indieAuthPeer, 'bin', 'python');
const password = 'a password of ada';
/** Nobody listens there: the test is the browser, and stops before it is sent back. */
const client = 'http://127.0.0.1:9/';

export interface IndieAuthPeer {
  readonly origin: string;
  /** Gets a token by signing in at the server that this metadata is of, as a browser and a client do together. */
  signIn(metadata: ServerMetadata, wanted: Wanted): Promise<string>;
  /** Ends every token with this scope, on the page where its owner does. */
  revoke(scope: string): Promise<void>;
  stop(): Promise<void>;
}

export interface ServerMetadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly introspection_endpoint: string;
}

export interface Wanted {
  readonly me: string;
  readonly scope: string;
}

/** An IndieAuth server that others wrote, with a user of its own. */
export async function startIndieAuthPeer(t: { teardown(work: () => unknown): void }): Promise<IndieAuthPeer> {
  const folder = await temporaryFolder(t);
  const script = resolve('test/support/indieAuthPeer.py');
  const child = spawn(python, [script, join(folder, 'db.sqlite')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  };
  t.teardown(stop);
  child.stdin.end(`${password}\n`);
  const [port] = await once(createInterface(child.stdout), 'line');
  const origin = `http://127.0.0.1:${port}`;
  const browser = createBrowser(origin);
  await browser.logIn();
  return {
    origin,
    stop,
    signIn: (metadata, wanted) => signIn(metadata, wanted, browser),
    async revoke(scope) {
      const page = await (await browser.ask('/indieweb/tokens/')).text();
      const rows = page.split('<tr').filter((row) => row.includes(`<td>${scope}</td>`));
      const paths = rows.flatMap((row) => [...row.matchAll(/action="([^"]*\/revoke\/)"/g)]);
      if (paths.length === 0) throw new Error('There is no such token to revoke.');
      for (const [, path = ''] of paths) await browser.ask(path, new URLSearchParams());
    },
  };
}

async function signIn(metadata: ServerMetadata, { me, scope }: Wanted, browser: Browser): Promise<string> {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(8).toString('hex');
  const redirect = `${client}callback`;
  const question = new URL(metadata.authorization_endpoint);
  question.search = new URLSearchParams({
    ...{ response_type: 'code', client_id: client, redirect_uri: redirect, state, me, scope },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  const page = await (await browser.ask(question.href)).text();
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const fields = hidden.map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]);
  const consent = new URLSearchParams([...fields, ['action', 'approve']]);
  const granted = await browser.ask(question.origin + question.pathname, consent);
  const back = new URL(granted.headers.get('location') ?? '');
  if (back.origin !== new URL(client).origin || back.searchParams.get('state') !== state)
    throw new Error(`The server sends the browser to ${back.href}.`);
  if (!metadata.authorization_endpoint.startsWith(back.searchParams.get('iss') ?? 'none'))
    throw new Error('The answer comes from another server.');
  const answer = await fetch(metadata.token_endpoint, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', client_id: client, redirect_uri: redirect },
      code: back.searchParams.get('code') ?? '',
      code_verifier: verifier,
    }),
  });
  return (await answer.json()).access_token;
}

interface Browser {
  logIn(): Promise<void>;
  /** A form is posted with what the server wants against forged ones. */
  ask(address: string, form?: URLSearchParams): Promise<Response>;
}

function createBrowser(origin: string): Browser {
  const cookies = new Map<string, string>();
  const ask = async (address: string, form?: URLSearchParams) => {
    form?.set('csrfmiddlewaretoken', cookies.get('csrftoken') ?? '');
    const response = await fetch(new URL(address, origin), {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  return {
    ask,
    async logIn() {
      await ask('/admin/login/');
      const { status } = await ask('/admin/login/', new URLSearchParams({ username: 'ada', password }));
      if (status !== 302) throw new Error(`The server does not let the browser in: ${status}.`);
    },
  };
}
