import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

interface Teardown {
  teardown(work: () => unknown): void;
}

/** A tool server behind a login, and its authorization server, in a process of its own. */
export interface AuthorizationPeer {
  /** Of the tool server. */
  readonly url: string;
  /** What came so far. */
  stats(): Promise<Readonly<Record<string, unknown>>>;
  /** All access tokens end. */
  expire(): Promise<unknown>;
}

/** `plain` gives no refresh tokens. */
export async function startAuthorizationPeer(
  test: Teardown,
  mode: 'refreshing' | 'plain' = 'refreshing',
): Promise<AuthorizationPeer> {
  const script = resolve('test', 'support', 'authorizationPeer.cjs');
  const child = spawn(process.execPath, [script, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  test.teardown(() => void child.kill());
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const origin = line.trim();
  return {
    url: `${origin}/mcp`,
    stats: async () => (await fetch(`${origin}/stats`)).json(),
    expire: () => fetch(`${origin}/expire`, { method: 'POST' }),
  };
}

/** As a browser does that has nothing to ask its user: it goes where it is sent. */
export function browse(url: string): Promise<Response> {
  return fetch(url, { redirect: 'follow' });
}
