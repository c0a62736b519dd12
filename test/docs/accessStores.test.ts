import { join } from 'node:path';
import t from 'tap';
import { createAccessStores } from '../../docs-service/auth/accessStores.ts';
import { createToken, TokenVerifier } from '../../docs-service/auth/accessTokens.ts';
import { hashPassword, isPassword } from '../../docs-service/auth/passwords.ts';
import { createSqliteAccess } from '../../docs-service/auth/sqliteAccess.ts';
import { openDatabase } from '../../docs-service/base/sqliteDatabase.ts';
import { accessStoresContract, firstTables } from '../support/accessStoresContract.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const now = Date.UTC(2026, 10, 22);

t.test('in SQLite', async (t) => {
  const file = join(await temporaryFolder(t), 'access.db');
  await accessStoresContract(t, async () => createSqliteAccess(await openDatabase(file)));
});

t.test('a file of the first version is migrated, and a file of a later version is refused', async (t) => {
  const file = join(await temporaryFolder(t), 'access.db');
  const token = createToken({ scopes: ['read', 'draft'], me: 'https://example.org/', lifetime: 1_000, now });
  const old = await openDatabase(file);
  old.exec(firstTables('tokens', 'INTEGER'));
  old.exec('PRAGMA user_version = 1');
  const { id, created, expires, me } = token.grant;
  old
    .prepare('INSERT INTO tokens (hash, id, scopes, me, created, expires) VALUES (?, ?, ?, ?, ?, ?)')
    .run(token.hash, id, 'read draft', me, created, expires);
  old.close();
  const access = createAccessStores(createSqliteAccess(await openDatabase(file)));
  t.same(await access.tokens.find(token.hash), token.grant);
  t.same(await access.tokens.list(), [{ ...token.grant, name: null }]);
  await access.close();
  const newer = await openDatabase(file);
  newer.exec('PRAGMA user_version = 99');
  t.throws(() => createSqliteAccess(newer), /newer version of runner-docs/);
  newer.close();
});

t.test('when tokens were last used is written before the end', async (t) => {
  const grant = { id: 'a', scopes: [], me: null, expires: now + 1 } as never;
  const written: unknown[] = [];
  const verifier = new TokenVerifier({
    store: {
      find: async () => grant,
      noteUses: async (uses: ReadonlyMap<string, number>) => {
        await new Promise(setImmediate);
        written.push(...uses);
      },
    } as never,
    now: () => now,
    onError: t.error,
  });
  t.equal(await verifier.verify('x'), grant);
  await verifier.close();
  t.strictSame(written, [['a', now]]);
});

t.test('the tokens that are remembered are bounded', async (t) => {
  let asked = 0;
  const store = { find: async () => void (asked += 1), noteUses: async () => undefined } as never;
  const verifier = new TokenVerifier({ store, now: () => now, onError: t.error });
  for (let at = 0; at < 10_000; at++) await verifier.verify(`token ${at}`);
  await verifier.verify('token 0');
  t.equal(asked, 10_000, 'as many as are remembered');
  await verifier.verify('one more');
  await verifier.verify('token 0');
  t.equal(asked, 10_002, 'they are asked for again');
  await verifier.close();
});

t.test('a password matches its hash in every Unicode form', async (t) => {
  const hash = await hashPassword('pässword of the owner');
  t.match(hash, /^scrypt\$65536\$8\$2\$/, 'at the costs that OWASP recommends');
  t.ok(await isPassword('pa\u0308ssword of the owner', hash));
  t.notOk(await isPassword('passwort of the owner', hash));
  t.notOk(await isPassword('x'.repeat(100_000), hash));
  t.notOk(await isPassword('', 'damaged'));
  t.not(await hashPassword('pässword of the owner'), hash, 'each has a salt of its own');
});
