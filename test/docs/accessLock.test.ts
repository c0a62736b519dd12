import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { AccessUnavailableError } from '../../docs-service/auth/accessDatabase.ts';
import { createAccessStores } from '../../docs-service/auth/accessStores.ts';
import { createToken } from '../../docs-service/auth/accessToken.ts';
import { createSqliteAccess } from '../../docs-service/auth/sqliteAccess.ts';
import { openDatabase } from '../../docs-service/base/sqliteDatabase.ts';
import { openAccess } from '../../docs-service/stores.ts';
import { runDocs, serveDocs } from '../support/docsProcess.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const newToken = () => createToken({ scopes: ['read'], lifetime: 60_000, now: Date.now() });

t.test(
  'the service keeps answering while another process writes to access.db',
  { timeout: 60_000 },
  async (t) => {
    const [content, data] = [await temporaryFolder(t, { 'one.md': '# One' }), await temporaryFolder(t)];
    const service = await serveDocs(['--content', content, '--data', data]);
    t.teardown(() => service.stop());
    await service.whenReady();
    const token = (await runDocs(['token', 'create', '--data', data])).stdout.trim();
    const other = await openDatabase(join(data, 'access.db'));
    t.teardown(() => other.close());
    const register = () =>
      fetch(`${service.origin}/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'x', redirect_uris: ['http://127.0.0.1/back'] }),
      });
    other.exec('BEGIN IMMEDIATE');

    const settled: string[] = [];
    const noting = async (name: string, work: Promise<Response>) => {
      const answer = await work;
      settled.push(name);
      return answer;
    };
    const refused = noting('register', register());
    t.equal((await noting('healthz', fetch(`${service.origin}/healthz`))).status, 200);
    t.equal(
      (await noting('docs', service.get('/api/v1/docs', token))).status,
      200,
      'who reads is not held up',
    );
    const answer = await refused;
    t.strictSame(settled, ['healthz', 'docs', 'register']);
    t.equal(answer.status, 503);
    t.match(answer.headers.get('retry-after'), /^\d+$/);
    t.match(await answer.json(), { error: 'temporarily_unavailable', error_description: /Try again/ });
    t.notMatch(service.stderr() + service.stdout(), /a defect/);

    const later = register();
    t.equal((await fetch(`${service.origin}/healthz`)).status, 200);
    other.exec('ROLLBACK');
    t.equal((await later).status, 201, 'what waits is done when the other is done');
  },
);

t.test('a full disk and a read-only file are reported, and reading goes on', async (t) => {
  const data = await temporaryFolder(t);
  const places = { content: data, data, database: undefined };
  await (await openAccess(places)).close();
  for (const limit of ['PRAGMA max_page_count = 1', 'PRAGMA query_only = 1']) {
    const database = await openDatabase(join(data, 'access.db'));
    const access = createAccessStores(createSqliteAccess(database));
    database.exec(limit);
    const fill = async () => {
      for (;;) await access.tokens.add(newToken());
    };
    const error = await fill().catch((thrown: unknown) => thrown);
    t.ok(error instanceof AccessUnavailableError, limit);
    t.match(error, { message: /access\.db cannot be used right now: it cannot be written/ });
    t.same(await access.tokens.find('x'), undefined, 'reading goes on');
    await access.close();
  }
});

t.test('only its owner can read access.db, whatever the umask', async (t) => {
  const data = await temporaryFolder(t);
  const places = { content: data, data, database: undefined };
  const before = process.umask(0);
  t.teardown(() => process.umask(before));
  const modes = () =>
    Promise.all(
      ['access.db', 'access.db-wal', 'access.db-shm'].map(
        async (name) => (await stat(join(data, name))).mode & 0o777,
      ),
    );
  const access = await openAccess(places);
  await access.tokens.add(newToken());
  t.strictSame(await modes(), [0o600, 0o600, 0o600]);
  for (const name of ['access.db', 'access.db-wal', 'access.db-shm']) await chmod(join(data, name), 0o644);
  const again = await openAccess(places);
  t.strictSame(await modes(), [0o600, 0o600, 0o600], 'also where an older version left it open');
  await Promise.all([access.close(), again.close()]);
});

t.test('a file without its tables counts as damaged', async (t) => {
  for (const sql of [
    'DROP TABLE docs_grants',
    'DROP TABLE docs_owner',
    'DROP TABLE docs_codes; PRAGMA user_version = 1',
  ]) {
    const data = await temporaryFolder(t);
    const places = { content: data, data, database: undefined };
    await (await openAccess(places)).close();
    const database = await openDatabase(join(data, 'access.db'));
    database.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
    database.close();
    await t.rejects(openAccess(places), /access\.db is damaged\. Put a backup in its place/, sql);
  }
});
