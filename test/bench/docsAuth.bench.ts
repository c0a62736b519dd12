// What it costs to check a token: beside a look into a map, and, where another server is asked, beside a bare request
// to it.
// Usage: node .tap-build/docsAuth.bench.mjs
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { createToken, type Grant, hashSecret, TokenVerifier } from '../../docs-service/auth/accessTokens.ts';
import { createIntrospectionClient } from '../../docs-service/auth/introspection.ts';
import { RemoteVerifier } from '../../docs-service/auth/remoteVerifier.ts';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { openAccess } from '../../docs-service/stores.ts';
import { createFigures, median } from './figures.ts';

const { section, row } = createFigures('docsAuth');
const tokens = 2_000;
const rounds = 5;
const me = 'https://ada.example.org/';

const folder = await mkdtemp(join(tmpdir(), 'runner-docs-bench-'));
const warn = (message: string) => console.log(`  ${message}`);
const made = Array.from({ length: tokens }, () =>
  createToken({ scopes: ['read'], me, lifetime: 3_600_000, now: Date.now() }),
);
const texts = made.map(({ token }) => token);

const bare = new Map<string, Grant>(made.map(({ hash, grant }) => [hash, grant]));
const access = await openAccess({ data: folder, database: undefined });
for (const token of made) await access.tokens.add(token);
/** Time passes by hand. */
const clock = { now: Date.now() };
const local = new TokenVerifier({
  store: access.tokens,
  now: () => clock.now,
  onError: ({ message }) => warn(message),
});

const answer = JSON.stringify({ active: true, me, scope: 'read', client_id: 'https://app.example.org/' });
const server = createServer((request, response) => {
  request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(answer));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/introspect`);
const tokenFile = join(folder, 'token');
await writeFile(tokenFile, 'ours', { mode: 0o600 });
const client = await createIntrospectionClient(address, tokenFile, warn);
const remote = new RemoteVerifier({
  ...{ client, warn, allowed: [me], now: () => clock.now },
  baseUrl: parseBaseUrl('https://docs.example.org'),
});
const pool = new Pool(address.origin, { connections: 16 });
const post = async (token: string) => {
  const { body } = await pool.request({
    ...{ method: 'POST', path: address.pathname, body: new URLSearchParams({ token }).toString() },
    headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: 'Bearer ours' },
  });
  return body.json();
};

section(`Microseconds for one token, one after the other; ${tokens} tokens, median of ${rounds}`);
await report('a hash and a look into a map', async (token) => bare.get(hashSecret(token)));
await report('local, remembered', (token) => local.verify(token));
await report('local, from the database', (token) => local.verify(token), 1_000);
await report('remote, remembered', (token) => remote.verify(token));
await report('a bare request to the other server', post);
await report('remote, asked', (token) => remote.verify(token), 61_000);

section(`Tokens a second, 200 at once, median of ${rounds}`);
await reportAtOnce('a bare request to the other server', post);
await reportAtOnce('remote, asked', (token) => remote.verify(token));

await Promise.all([local.close(), remote.close(), pool.close()]);
await access.close();
server.close();
await rm(folder, { recursive: true });

/** With a step, time passes before each round, so that nothing is remembered. */
async function report(name: string, check: (token: string) => Promise<unknown>, step = 0): Promise<void> {
  for (const token of texts) await check(token);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    clock.now += step;
    const from = performance.now();
    for (const token of texts) await check(token);
    times.push(((performance.now() - from) * 1_000) / tokens);
  }
  row(name, median(times).toFixed(1));
}

/** Nothing is remembered from the round before. */
async function reportAtOnce(name: string, check: (token: string) => Promise<unknown>): Promise<void> {
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) {
    clock.now += 61_000;
    const from = performance.now();
    for (let at = 0; at < tokens; at += 200) await Promise.all(texts.slice(at, at + 200).map(check));
    rates.push((tokens * 1_000) / (performance.now() - from));
  }
  row(name, median(rates).toFixed(0));
}
