import type { Test } from 'tap';
import type { AccessDatabase, AccessStatement, AccessValue } from '../../docs-service/auth/accessDatabase.ts';
import { createAccessStores } from '../../docs-service/auth/accessStores.ts';
import { createToken, type Grant } from '../../docs-service/auth/accessTokens.ts';

const now = Date.UTC(2026, 10, 22);

/** What both engines do alike. `open` opens the same database once more, as another process or instance does. */
export async function accessStoresContract(t: Test, open: () => Promise<AccessDatabase>): Promise<void> {
  const database = await open();
  const [one, other] = [createAccessStores(database), createAccessStores(await open())];
  t.teardown(() => Promise.all([one.close(), other.close()]));

  t.test('a token that one instance creates or revokes is created or revoked for all', async (t) => {
    const token = createToken({ scopes: ['read', 'draft'], lifetime: 1_000, now });
    await one.tokens.add(token);
    t.same(await other.tokens.find(token.hash), token.grant);
    await one.tokens.noteUses(new Map([[token.grant.id, now + 5]]));
    await one.tokens.noteUses(new Map([[token.grant.id, now + 3]]));
    t.equal((await other.tokens.find(token.hash))?.lastUsed, now + 5, 'the latest use counts');
    t.ok(await other.tokens.revoke(token.grant.id));
    t.notOk(await one.tokens.revoke(token.grant.id));
    t.equal(await one.tokens.find(token.hash), undefined);
  });

  t.test('slugs are kept, and each belongs to one file', async (t) => {
    const record = (slug: string, path: string, gone: number | null = null) => ({ slug, path, gone });
    const all = async () => [...(await other.slugs.all())].sort((a, b) => (a.slug < b.slug ? -1 : 1));
    const many = Array.from({ length: 250 }, (_, at) => record(`many-${at}`, `many/${at}.md`));
    const path = `${'long/'.repeat(800)}a.md`;
    await one.slugs.change([record('a', path), record('b', 'b.md', now), ...many], []);
    await other.slugs.change(
      [record('b', 'other.md'), record('größe', 'größe.md')],
      many.map(({ slug }) => slug),
    );
    t.strictSame(await all(), [record('a', path), record('b', 'other.md'), record('größe', 'größe.md')]);
    await one.slugs.change([], []);
    await one.slugs.change([record('a', path, now)], ['b', 'größe']);
    t.strictSame(await all(), [record('a', path, now)]);
  });

  t.test('of many simultaneous uses of a code, one succeeds', async (t) => {
    const code = codeOf('c1');
    await one.signIns.addCode(code, now);
    const used = await Promise.all(
      [one, other, one, other].map(({ signIns }) => signIns.useCode('c1', now + 1)),
    );
    t.equal(used.filter(Boolean).length, 1);
    t.match(await other.signIns.findCode('c1'), { isUsed: true, grant: code.grant?.id, scopes: ['read'] });
    t.equal(await one.signIns.useCode('unknown', now), false);
  });

  t.test('all tokens of a client end with its grant, even those that are created late', async (t) => {
    const code = codeOf('c2');
    await one.signIns.addCode(code, now);
    t.notOk(
      (await one.tokens.list()).some(({ id }) => id === code.grant?.id),
      'not listed before the code is used',
    );
    await one.signIns.useCode('c2', now);
    const tokens = tokensOf(code.grant?.id ?? '', 'a');
    t.equal(await other.signIns.addTokens(tokens), true);
    t.equal(
      (await one.tokens.list()).find(({ id }) => id === code.grant?.id)?.expires,
      tokens.refresh.expires,
    );
    t.match(await one.tokens.find('a-access'), { client: 'client', scopes: ['read'], expires: now + 10 });
    t.match(await one.signIns.findRefreshToken('a-refresh'), { rotated: null, grant: { client: 'client' } });
    await other.signIns.rotate('a-refresh', now + 1);
    await one.signIns.rotate('a-refresh', now + 2);
    t.equal((await one.signIns.findRefreshToken('a-refresh'))?.rotated, now + 1, 'the first one counts');
    for (const [at, name] of ['s', 't', 'u'].entries()) {
      const next = tokensOf(code.grant?.id ?? '', name);
      await one.signIns.addTokens({ ...next, refresh: { ...next.refresh, parent: 'a-refresh' } });
      t.equal(
        (await other.signIns.findRefreshToken('a-refresh'))?.successorRotated,
        at === 0 ? null : now + 5,
      );
      await other.signIns.rotate(`${name}-refresh`, now + 5 + at);
    }
    t.ok(await one.tokens.revoke(code.grant?.id ?? ''));
    t.equal(await other.signIns.addTokens(tokensOf(code.grant?.id ?? '', 'b')), false);
    for (const hash of ['a-access', 'b-access']) t.equal(await other.tokens.find(hash), undefined);
    t.equal(await other.signIns.findRefreshToken('a-refresh'), undefined);
  });

  t.test('unused codes are deleted together with their grants', async (t) => {
    const code = codeOf('c3');
    await one.signIns.addCode(code, now);
    await one.signIns.addCode(codeOf('c4', now + 2 * 86_400_000), now + 2 * 86_400_000);
    t.equal(await one.signIns.findCode('c3'), undefined);
    t.equal(await one.tokens.revoke(code.grant?.id ?? ''), false);
  });

  t.test('clients are added, registered, found and removed', async (t) => {
    const client = {
      id: 'x',
      name: 'One',
      uri: null,
      redirectUris: ['https://x.example/cb'],
      source: 'operator',
    } as const;
    await one.clients.add(client, now);
    await other.clients.add({ ...client, name: 'Two' }, now);
    t.same(await one.clients.find('x'), { ...client, name: 'Two' });
    t.ok(await one.clients.remove('x'));
    t.notOk(await one.clients.remove('x'));
    const registered = (id: string) => ({ ...client, id, source: 'registration' }) as const;
    await one.clients.register(registered('allowed'), now);
    await one.clients.noteGrant('allowed', now);
    const row = { name: 'One', uri: null, redirect_uris: '[]', source: 'registration' };
    const rows = Array.from({ length: 990 }, (_, at) => ({ id: `r${at}`, created: now + at, ...row }));
    await database.batch([insertion('docs_clients', rows)]);
    for (let at = 990; at < 1_001; at += 1)
      await (at % 2 ? one : other).clients.register(registered(`r${at}`), now + at);
    const kept = new Set((await one.clients.list()).map(({ id }) => id));
    t.equal(kept.size, 1_001, 'a thousand, and the one that was allowed something');
    t.notOk(kept.has('r0'), 'the oldest has made room');
    for (const id of ['allowed', 'r1', 'r1000']) t.ok(kept.has(id), id);
    await one.clients.register(registered('late'), now + 88_000_000);
    const left = (await other.clients.list()).map(({ id }) => id);
    t.strictSame(left, ['late', 'allowed'], 'a day later all the others are gone');
    for (const id of left) await one.clients.remove(id);
  });

  t.test('a new password of the owner ends the sessions', async (t) => {
    t.same(await one.owners.read(), { me: null, password: null, profile: {}, epoch: 0 });
    await one.owners.setProfile({ name: 'Ada' });
    await one.owners.setPassword({ password: 'hash', me: 'https://ada.example/' });
    const session = { hash: 's', expires: now + 10, epoch: (await one.owners.read()).epoch };
    await other.owners.addSession(session, now);
    t.ok(await one.owners.hasSession('s', now));
    t.notOk(await one.owners.hasSession('s', now + 10));
    await one.owners.setPassword({ password: 'hash2' });
    t.same(await other.owners.read(), {
      me: 'https://ada.example/',
      password: 'hash2',
      profile: { name: 'Ada' },
      epoch: 2,
    });
    t.notOk(await other.owners.hasSession('s', now));
    await other.owners.addSession(session, now);
    t.notOk(await one.owners.hasSession('s', now), 'nor one whose password was checked before');
  });

  t.test('a sign-in that is in progress ends when the password changes', async (t) => {
    const { epoch } = await one.owners.read();
    const used = { ...codeOf('c5'), epoch };
    await one.signIns.addCode(used, now);
    await one.signIns.useCode('c5', now);
    await other.owners.setPassword({ password: 'hash3' });
    await one.signIns.addTokens(tokensOf(used.grant?.id ?? '', 'late'));
    t.equal(await one.signIns.findRefreshToken('late-refresh'), undefined, 'tokens that came later');
    await one.signIns.addCode({ ...codeOf('c6'), epoch }, now);
    t.equal(await other.signIns.findCode('c6'), undefined, 'a code that came later');
  });

  t.test('a client that refreshes endlessly does not fill the database', async (t) => {
    const { epoch } = await one.owners.read();
    const code = { ...codeOf('c7'), epoch };
    await one.signIns.addCode(code, now);
    await one.signIns.useCode('c7', now);
    const grant = code.grant?.id ?? '';
    const rows = (name: string, more: Row) =>
      Array.from({ length: 995 }, (_, at) => ({
        ...{ hash: `${name}-${at}`, grant_id: grant, expires: now + 1_000 + at },
        ...more,
      }));
    await database.batch([
      insertion('docs_access_tokens', rows('many', { scopes: 'read', created: now })),
      insertion('docs_refresh_tokens', rows('more', {})),
    ]);
    for (let at = 995; at < 1_010; at += 1)
      await one.signIns.addTokens({
        ...{ grant, scopes: ['read'], now },
        access: { hash: `many-${at}`, expires: now + 1_000 + at },
        refresh: { hash: `more-${at}`, expires: now + 1_000 + at },
      });
    t.equal(await one.tokens.find('many-0'), undefined);
    t.equal(await one.signIns.findRefreshToken('more-9'), undefined);
    t.ok(await one.tokens.find('many-10'));
    t.ok(await one.signIns.findRefreshToken('more-1009'));
  });

  t.test('wrong passwords are counted across all instances', async (t) => {
    const attempt = (id: string) => ({ id, address: '192.0.2.1', made: now });
    t.equal(await one.owners.noteAttempt(attempt('1'), now - 10), 1);
    t.equal(await other.owners.noteAttempt(attempt('2'), now - 10), 2);
    await one.owners.forgetAttempt('1');
    t.equal(await one.owners.noteAttempt({ ...attempt('3'), address: '192.0.2.2' }, now - 10), 1);
    t.equal(await one.owners.noteAttempt({ ...attempt('4'), made: now + 20 }, now + 10), 1);
    t.equal(
      await one.owners.noteAttempt(attempt('5'), now - 10),
      1,
      'a clock that is set back locks nobody out',
    );
  });

  t.test('expired tokens stay for 30 days, and go when another is made', async (t) => {
    const days30 = 30 * 24 * 60 * 60 * 1_000;
    const token = (created: number) => createToken({ scopes: ['read'], lifetime: 1_000, now: created });
    const old = token(now);
    await one.tokens.add(old);
    await one.tokens.add(token(old.grant.expires + days30));
    t.ok(await other.tokens.find(old.hash));
    t.ok((await other.tokens.list()).some(({ id }) => id === old.grant.id));
    await one.tokens.add(token(old.grant.expires + days30 + 1));
    t.equal(await other.tokens.find(old.hash), undefined);
    t.notOk((await other.tokens.list()).some(({ id }) => id === old.grant.id));
  });
}

function codeOf(hash: string, created = now) {
  const times = { created, expires: created + 60_000, lastUsed: null };
  const grant: Grant = {
    id: `grant-${hash}`,
    scopes: ['read'],
    me: 'https://me.example/',
    client: 'client',
    ...times,
  };
  const request = {
    client: 'client',
    redirectUri: 'https://c.example/',
    challenge: 'x',
    scopes: ['read'] as const,
    epoch: 0,
  };
  return { hash, grant, ...request, expires: times.expires };
}

function tokensOf(grant: string, name: string) {
  return {
    ...{ grant, scopes: ['read'] as const, now },
    access: { hash: `${name}-access`, expires: now + 10 },
    refresh: { hash: `${name}-refresh`, expires: now + 20 },
  };
}

type Row = Readonly<Record<string, AccessValue>>;

/** Rows as earlier calls have left them: a transaction for each would take most of the time of these tests. */
function insertion(table: string, rows: readonly Row[]): AccessStatement {
  const columns = Object.keys(rows[0] ?? {});
  const places = `(${columns.map(() => '?').join(', ')})`;
  return [
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows.map(() => places).join(', ')}`,
    ...rows.flatMap((row) => Object.values(row)),
  ];
}

/** What the first version had: one table of tokens, with that name and that type of its times. */
export function firstTables(name: string, integer: string): string {
  return `CREATE TABLE ${name} (hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL, me TEXT,
    created ${integer} NOT NULL, expires ${integer} NOT NULL, last_used ${integer})`;
}
