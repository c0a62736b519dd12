import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { createIntrospectionClient } from '../../docs-service/auth/introspection.ts';
import { RemoteVerifier } from '../../docs-service/auth/remoteVerifier.ts';
import { parseBaseUrl } from '../../docs-service/base/baseUrl.ts';
import { runDocs, serveDocs } from '../support/docsProcess.ts';
import { type ServerMetadata, startIndieAuthPeer } from '../support/indieAuthPeer.ts';
import { serveIntrospection } from '../support/introspectionServer.ts';
import { needs } from '../support/parts.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';

const me = 'https://ada.example.org/';

t.test('tokens from an independent IndieAuth server', needs('indieAuthPeer'), async (t) => {
  const peer = await startIndieAuthPeer(t);
  const wellKnown = `${peer.origin}/.well-known/oauth-authorization-server`;
  const metadata: ServerMetadata = await (await fetch(wellKnown)).json();
  const own = await peer.signIn(metadata, { me, scope: 'introspection' });
  const folder = await temporaryFolder(t, { 'content/one.md': '# One', token: own });
  const tokenFile = join(folder, 'token');
  await chmod(tokenFile, 0o600);
  const service = await serveDocs([
    ...['--content', join(folder, 'content'), '--data', join(folder, 'data'), '--auth', 'remote'],
    ...['--issuer', metadata.issuer, '--introspection', metadata.introspection_endpoint],
    ...['--introspection-token-file', tokenFile, '--allow-me', 'https://ADA.example.org'],
  ]);
  t.teardown(() => service.stop());
  await service.whenReady();

  const refused = await fetch(`${service.origin}/api/v1/docs`);
  t.equal(refused.status, 401);
  const [, where = ''] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
  const resource = await (await fetch(where)).json();
  t.strictSame(resource.authorization_servers, [metadata.issuer], 'a client finds the other server');

  const token = await peer.signIn(metadata, { me, scope: 'read' });
  const list = await service.get('/api/v1/docs', token);
  t.equal(list.status, 200, 'and reads with the token that it gives');
  t.match(await list.json(), { total: 1 });

  const writer = await peer.signIn(metadata, { me, scope: 'create update' });
  const scopeless = await service.get('/api/v1/docs', writer);
  t.equal(scopeless.status, 403);
  t.match(
    scopeless.headers.get('www-authenticate'),
    /insufficient_scope/,
    'a token for writing does not read',
  );

  const foreign = await peer.signIn(metadata, { me: 'https://eve.example.org/', scope: 'read' });
  const stranger = await service.get('/api/v1/docs', foreign);
  t.equal(stranger.status, 403, 'nor does one of somebody else');
  t.notOk(stranger.headers.get('www-authenticate'), 'for whom another scope would change nothing');
  t.match(await stranger.json(), { status: 403, detail: /somebody who may not read here/ });

  const unknown = await service.get('/api/v1/docs', 'guessed');
  t.equal(unknown.status, 401);
  t.match(unknown.headers.get('www-authenticate'), /invalid_token/);
  const { stdout } = await runDocs(['token', 'create', '--data', join(folder, 'data')]);
  t.equal(
    (await service.get('/api/v1/docs', stdout.trim())).status,
    401,
    "the service's own tokens do not count",
  );

  const clock = { now: Date.now() };
  const quiet = () => undefined;
  const address = new URL(metadata.introspection_endpoint);
  const verifier = new RemoteVerifier({
    client: await createIntrospectionClient(address, tokenFile, quiet),
    allowed: [me],
    baseUrl: parseBaseUrl(service.origin),
    now: () => clock.now,
    warn: quiet,
  });
  t.teardown(() => verifier.close());
  t.match(await verifier.verify(token), { me, scopes: ['read'], client: 'http://127.0.0.1:9/' });
  await peer.revoke('read');
  clock.now += 60_000;
  t.equal(await verifier.verify(token), undefined, 'what is revoked there is dead here after a minute');

  await peer.stop();
  const away = await service.get('/api/v1/docs', 'another');
  t.equal(away.status, 503, 'without the other server no token can be checked');
  t.match(away.headers.get('retry-after'), /^\d+$/);
  t.equal((await service.get('/api/v1/docs', token)).status, 200, 'those just checked go on');
  for (const secret of [own, token, writer, foreign])
    t.notOk((service.stderr() + service.stdout()).includes(secret), 'no token is in the log');
  t.match(service.stderr(), /cannot check tokens/);
});

t.test('the service with another server behind it', async (t) => {
  const server = await serveIntrospection(t);
  const folder = await temporaryFolder(t, { 'content/one.md': '# One', token: 'ours' });
  const tokenFile = join(folder, 'token');
  await chmod(tokenFile, 0o644);
  const flags = (data: string) => [
    ...['--content', join(folder, 'content'), '--data', join(folder, data), '--auth', 'remote', '--issuer'],
    ...[
      'https://auth.example.org/',
      '--introspection',
      server.address.href,
      '--introspection-token-file',
      tokenFile,
    ],
  ];
  const service = await serveDocs([...flags('data'), '--allow-me', me]);
  t.teardown(() => service.stop());
  t.match(service.stderr(), /All users of this machine can read .*token\. Run: chmod 600/);
  await service.whenReady();
  server.says({ active: true, me, scope: 'read', aud: `${service.origin}/mcp` });
  t.equal((await service.get('/api/v1/docs', 'one')).status, 200, 'a token for agents reads REST too');
  server.says({ active: true, me, scope: 'read', aud: 'https://elsewhere.example.org/' });
  const elsewhere = await service.get('/api/v1/docs', 'two');
  t.equal(elsewhere.status, 401);
  t.match(elsewhere.headers.get('www-authenticate'), /invalid_token/);
  server.says('{"active":');
  t.equal((await service.get('/api/v1/docs', 'three')).status, 503);
  const bare = await fetch(`${service.origin}/api/v1/docs`);
  t.match(
    (await bare.json()).detail,
    'https://auth.example.org/ issues one',
    'who has no token learns where to get one',
  );
  t.match(await (await fetch(`${service.origin}/docs`)).text(), 'https://auth.example.org/ gives');
  for (const path of ['/authorize', '/token', '/register', '/.well-known/oauth-authorization-server'])
    t.equal((await fetch(service.origin + path)).status, 404, `${path} is the other server's`);

  await writeFiles(folder, { token: '' });
  const cases: readonly { name: string; args: readonly string[]; message: RegExp }[] = [
    { name: 'nobody who may read', args: flags('other'), message: /also needs --allow-me/ },
    {
      name: 'an empty file',
      args: [...flags('other'), '--allow-me', me],
      message: /must contain one token/,
    },
    { name: 'the sample', args: [...flags('other'), '--allow-me', me, '--sample'], message: /--sample/ },
  ];
  for (const { name, args, message } of cases) {
    const { code, stderr } = await runDocs(['serve', '--port', '0', ...args]);
    t.not(code, 0, name);
    t.match(stderr, message, name);
  }
});
