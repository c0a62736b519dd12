import { createHash } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { type DocsService, runDocs, serveDocs } from '../support/docsProcess.ts';
import { FormBrowser } from '../support/formBrowser.ts';
import { needs } from '../support/parts.ts';
import { startPostgres, tryFindPostgres } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const password = 'a password of the owner';
const verifier = 'v'.repeat(43);
const redirectUri = 'http://localhost:8787/callback';

t.setTimeout(180_000);

t.test('the owner sets a password, allows a client, and revokes it', async (t) => {
  const content = await temporaryFolder(t, { 'one.md': '# One' });
  const data = join(await temporaryFolder(t), 'data');
  const setPassword = (input: string | undefined, more: readonly string[] = []) =>
    runDocs(['owner', 'set-password', '--data', data, ...more], input === undefined ? {} : { input });
  t.match(await setPassword(undefined), { code: 2, stderr: /standard input/ });
  t.match(await setPassword('too short\n'), { code: 2, stderr: /at least 12 characters, and has 9/ });
  t.match(await setPassword(`${password}\n`, ['--me', 'ftp://x']), { code: 2, stderr: /--me must be/ });
  t.match(await setPassword('x'.repeat(20_000)), { code: 1, stderr: /too long/ });
  t.match(await setPassword(`${password}\r\nanother line\n`), { code: 0, stdout: '' });

  const service = await serveDocs(['--content', content, '--data', data]);
  t.teardown(() => service.stop());
  const { tokens } = await letIn(service, service);
  t.equal((await service.get('/api/v1/docs', tokens.access_token)).status, 200);
  const listed = await runDocs(['token', 'list', '--data', data]);
  t.match(listed.stdout, /^ID +SCOPES +ME +CREATED +EXPIRES +LAST USED +CLIENT\n[0-9a-f]{12} +read +http/);
  t.notMatch(listed.stdout, /rdocs_(?!client)/, 'no token is shown');
  t.match(
    (await runDocs(['client', 'list', '--data', data])).stdout,
    /registered +Test +http:\/\/localhost:8787/,
  );
  const [, id = ''] = /\n(\w{12}) /.exec(listed.stdout) ?? [];
  t.match(await runDocs(['token', 'revoke', id, '--data', data]), { code: 0 });
  await untilDead(service, tokens.access_token);
  t.equal((await refresh(service, tokens)).status, 400, 'and it cannot be refreshed');

  const added = ['--client-id', 'https://app.example/id.json', '--redirect-uri', 'https://app.example/cb'];
  t.match(await runDocs(['client', 'add', ...added, '--name', 'App', '--data', data]), { code: 0 });
  t.match((await runDocs(['client', 'list', '--data', data])).stdout, /app\.example\/id\.json +added +App/);
  t.match(await runDocs(['client', 'remove', 'https://app.example/id.json', '--data', data]), { code: 0 });
  t.match(await runDocs(['client', 'remove', 'https://app.example/id.json', '--data', data]), {
    code: 1,
    stderr: /there is no client/,
  });
  t.match(await runDocs(['client', 'add', '--client-id', 'nonsense', '--data', data]), { code: 2 });
  t.match(await runDocs(['client', 'add', ...added.slice(0, 2), '--redirect-uri', 'javascript:1']), {
    code: 2,
  });
  const secrets = [password, tokens.access_token, tokens.refresh_token];
  const said = service.stdout() + service.stderr();
  t.notOk(
    secrets.some((secret) => said.includes(secret)),
    'the log has no secret',
  );
});

const bin = tryFindPostgres();

t.test('instances on one PostgreSQL are one authorization server', needs('postgres'), async (t) => {
  const server = startPostgres(bin ?? '');
  t.teardown(() => server.remove());
  const database = ['--database', server.database('docs')];
  t.match(await runDocs(['owner', 'set-password', ...database], { input: `${password}\n` }), { code: 0 });
  const content = await temporaryFolder(t, { 'one.md': '# One' });
  const start = async () => {
    const places = ['--content', content, '--data', join(await temporaryFolder(t), 'data'), ...database];
    const service = await serveDocs(places);
    t.teardown(() => service.stop());
    return service;
  };
  const [one, other] = [await start(), await start()];
  await Promise.all([one.whenReady(), other.whenReady()]);
  const { tokens } = await letIn(one, other);
  t.equal((await one.get('/api/v1/docs', tokens.access_token)).status, 200);
  t.equal((await refresh(one, tokens)).status, 200);
  t.equal((await post(other, '/revoke', { token: tokens.access_token })).status, 200);
  await untilDead(one, tokens.access_token);
});

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly client_id: string;
}

/** A client registers and asks at one instance, and fetches its tokens from the other. */
async function letIn(one: DocsService, other: DocsService): Promise<{ readonly tokens: Tokens }> {
  const body = JSON.stringify({ redirect_uris: [redirectUri], client_name: 'Test' });
  const headers = { 'content-type': 'application/json' };
  const registered = await fetch(`${one.origin}/register`, { method: 'POST', headers, body });
  const { client_id } = (await registered.json()) as { client_id: string };
  const origin = one.origin;
  const browser = new FormBrowser(origin, async ({ method, url, headers: own, payload }) => {
    const { host, ...rest } = own;
    const answer = await fetch(new URL(url, origin), {
      ...{ method, headers: rest, redirect: 'manual' as const },
      ...(payload === undefined ? {} : { body: payload }),
    });
    const all = Object.fromEntries(answer.headers);
    const cookies = answer.headers.getSetCookie();
    return { status: answer.status, headers: { ...all, 'set-cookie': cookies }, body: await answer.text() };
  });
  const asked = new URLSearchParams({
    ...{ response_type: 'code', client_id, redirect_uri: redirectUri, state: 's', scope: 'read' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  await browser.open(`/authorize?${asked}`);
  await browser.submit({ password });
  const { headers: answered } = await browser.submit({ decision: 'allow' });
  const code = new URL(String(answered['location'])).searchParams.get('code') ?? '';
  const redeemed = await post(other, '/token', {
    ...{
      grant_type: 'authorization_code',
      code,
      client_id,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    },
  });
  return { tokens: { ...((await redeemed.json()) as Omit<Tokens, 'client_id'>), client_id } };
}

function refresh(service: DocsService, { refresh_token, client_id }: Tokens): Promise<Response> {
  return post(service, '/token', { grant_type: 'refresh_token', refresh_token, client_id });
}

function post(service: DocsService, path: string, fields: Record<string, string>): Promise<Response> {
  return fetch(service.origin + path, { method: 'POST', body: new URLSearchParams(fields) });
}

/** A token that was revoked is dead within a second on every instance. */
async function untilDead(service: DocsService, token: string): Promise<void> {
  await poll(
    () => service.get('/api/v1/docs', token),
    ({ status }) => status === 401,
    10_000,
  );
}
