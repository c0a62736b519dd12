import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { AccessUnavailableError } from '../../docs-service/auth/accessDatabase.ts';
import { createAccessStores } from '../../docs-service/auth/accessStores.ts';
import { createToken } from '../../docs-service/auth/accessTokens.ts';
import { createSqliteAccess } from '../../docs-service/auth/sqliteAccess.ts';
import { openDatabase } from '../../docs-service/base/sqliteDatabase.ts';
import { openAccess } from '../../docs-service/stores.ts';
import { openTestApp } from '../support/docsApp.ts';
import { where } from '../support/systems.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { createVirtualClock } from '../support/virtualClock.ts';
import { poll } from '../support/waiting.ts';

const newToken = () => createToken({ scopes: ['read'], lifetime: 60_000, now: Date.now() });

t.test('the service keeps answering while another process writes to access.db', async (t) => {
  const file = join(await temporaryFolder(t), 'access.db');
  const clock = createVirtualClock();
  const accessDatabase = createSqliteAccess(await openDatabase(file), clock);
  const { app, get, log } = await openTestApp(t, { 'one.md': '# One' }, { accessDatabase });
  const other = await openDatabase(file);
  t.teardown(() => other.close());
  const register = async () =>
    app.inject({
      ...{ method: 'POST', url: '/register', headers: { host: '127.0.0.1:4000' } },
      payload: { client_name: 'x', redirect_uris: ['http://127.0.0.1/back'] },
    });
  const untilItWaits = () =>
    poll(
      async () => clock.waiting,
      (count) => count === 1,
    );
  other.exec('BEGIN IMMEDIATE');

  const refused = register();
  await untilItWaits();
  t.equal((await get('/healthz')).statusCode, 200);
  t.equal((await get('/api/v1/docs')).statusCode, 200, 'who reads is not held up');
  clock.pass(5_000);
  await untilItWaits();
  clock.pass(25);
  const answer = await refused;
  t.equal(answer.statusCode, 503, 'who writes is, for five seconds');
  t.match(answer.headers['retry-after'], /^\d+$/);
  t.match(answer.json(), { error: 'temporarily_unavailable', error_description: /Try again/ });
  t.notMatch(log.join(), /a defect/);

  const later = register();
  await untilItWaits();
  t.equal((await get('/healthz')).statusCode, 200);
  other.exec('ROLLBACK');
  clock.pass(25);
  t.equal((await later).statusCode, 201, 'what waits is done when the other is done');
});

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

t.test('only its owner can read access.db, whatever the umask', where('modes'), async (t) => {
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
