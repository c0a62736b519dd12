import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import t, { type Test } from 'tap';
import { createAccessStores, createPostgresAccess } from '../../docs-service/auth/accessStores.ts';
import { createToken } from '../../docs-service/auth/accessTokens.ts';
import { openContentFolder } from '../../docs-service/content/contentFolder.ts';
import { Library } from '../../docs-service/library/library.ts';
import { LibraryIndexer } from '../../docs-service/library/libraryIndexer.ts';
import { createPostgresIndex } from '../../docs-service/search/postgres/postgresIndex.ts';
import { createSqliteIndex } from '../../docs-service/search/sqlite/sqliteIndex.ts';
import { accessStoresContract, firstTables } from '../support/accessStoresContract.ts';
import { createSlugRecords } from '../support/docsLibrary.ts';
import { runDocs, serveDocs } from '../support/docsProcess.ts';
import {
  documentIndexContract,
  emptyDocument,
  found,
  type WritableIndex,
} from '../support/documentIndexContract.ts';
import { ownerPassword } from '../support/formBrowser.ts';
import { needs } from '../support/parts.ts';
import { startPostgres, tryFindPostgres } from '../support/postgres.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { letIn, post, refresh, untilDead } from '../support/tokenClient.ts';
import { poll } from '../support/waiting.ts';

const ignore = () => undefined;

// All that needs PostgreSQL is here, because its start is dear: one server, with a database for each test.
t.test('PostgreSQL', needs('postgres'), async (t) => {
  const server = await startPostgres(tryFindPostgres() ?? '');
  t.teardown(() => server.remove());
  const openAt = (url: string) => createPostgresIndex(url, ignore);
  const open = async () => openAt(await server.database());

  t.test('the contract of the index', async (t) => documentIndexContract(t, open));

  t.test('both engines find the same', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'runner-index-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const worker = resolve('dist/docs-service/indexWorker.cjs');
    const sqlite = createSqliteIndex(join(folder, 'index.db'), worker, ignore);
    const word = fc.constantFrom('apple', 'pear', 'plum', 'Äpfel', 'ap', '検索', '索検', '検', 'pearl');
    const separator = fc.constantFrom(' ', ' ', '-', '\n\n', '\n# ', ', ');
    const text = fc.array(fc.tuple(word, separator), { maxLength: 16 }).map((words) => words.flat().join(''));
    const facet = fc.constantFrom('x', 'y');
    const document = fc.record({
      title: text,
      body: text,
      type: fc.option(facet),
      draft: fc.boolean(),
      date: fc.option(fc.constantFrom('2024-01-01', '2024-01-01T05:00:00+05:00', '2025-06-01T00:00:00Z')),
      tags: fc.uniqueArray(facet).map((slugs) => slugs.map((slug) => ({ slug, title: slug }))),
    });
    const changes = fc.record({
      put: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), document), {
        minLength: 2,
        maxLength: 6,
      }),
      remove: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
    });
    const term = fc.oneof(
      word,
      word.map((text) => `${text.slice(0, 2)}*`),
      word.map((text) => `${text.slice(0, 4)}*`),
      fc.tuple(word, word).map((words) => `"${words.join(' ')}"`),
      fc.tuple(word, word).map((words) => `${words.join('-')}*`),
    );
    const asked = fc.record({
      text: fc
        .array(fc.tuple(fc.constantFrom('', '', '-'), term), { minLength: 1, maxLength: 3 })
        .map((terms) => terms.map((parts) => parts.join('')).join(' ')),
      drafts: fc.boolean(),
      filter: fc.record({ type: facet, tag: facet }, { requiredKeys: [] }),
    });
    const engines: readonly WritableIndex[] = [sqlite, await open()];
    let answers = 0;
    await fc.assert(
      fc.asyncProperty(
        changes,
        fc.array(asked, { minLength: 3, maxLength: 6 }),
        async ({ put, remove }, questions) => {
          const documents = put.map(([slug, document]) => emptyDocument(slug, document));
          for (const index of engines) await index.apply({ put: documents, remove, isComplete: true });
          for (const { filter, ...question } of questions) {
            const [one, other] = await Promise.all(
              engines.map((index) => ask(index, { ...question, ...filter })),
            );
            t.strictSame(one, other, 'the same', { question });
            answers += one?.search.total ?? 0;
          }
        },
      ),
      // Each changes both engines and asks them several questions, and goes on from what the last one has left.
      { numRuns: 40 },
    );
    t.ok(answers > 40, `${answers} documents were found`);
    for (const index of engines) await index.close();
  });

  t.test('several instances share it', async (t) => {
    const url = await server.database();
    const instances = [openAt(url), openAt(url), openAt(url)];
    await Promise.all(instances.map((index) => index.summary()));
    const [one, other] = instances;
    if (!one || !other) throw new Error('There are three.');
    const changed = new Promise<void>((resolve) => other.onDidChange(resolve));
    await one.apply({ put: [emptyDocument('a', { body: 'apple' })], isComplete: true });
    await changed;
    t.strictSame(await found(other, 'apple'), ['a']);
    await Promise.all(instances.map((index) => index.close()));
  });

  t.test('one instance indexes, and another takes over', async (t) => {
    const url = await server.database();
    const [one, other] = [openAt(url), openAt(url)];
    const lease = await one.tryBecomeWriter();
    t.ok(lease);
    t.equal(await other.tryBecomeWriter(), undefined);
    await lease?.dispose();
    const next = await other.tryBecomeWriter();
    t.ok(next);
    const lost = once(next?.lost ?? new EventTarget(), 'abort');
    await server.stop();
    await lost;
    await server.start();
    await Promise.all([one.close(), other.close()]);
  });

  t.test('calls fail while the database is down, and work again afterwards', async (t) => {
    const index = await open();
    await index.apply({ put: [emptyDocument('a', { body: 'apple' })], isComplete: true });
    await server.stop();
    await t.rejects(index.summary(), { name: 'IndexUnavailableError' });
    await t.rejects(found(index, 'apple'), { name: 'IndexUnavailableError' });
    await t.rejects(index.tryBecomeWriter(), { name: 'IndexUnavailableError' });
    await t.rejects(index.apply({ remove: ['a'] }), { name: 'IndexUnavailableError' });
    const changed = new Promise<void>((resolve) => index.onDidChange(resolve));
    await server.start();
    t.strictSame(await found(index, 'apple'), ['a']);
    await index.apply({ put: [emptyDocument('b', { body: 'apple' })] });
    await changed;
    t.equal((await found(index, 'apple')).length, 2);
    await index.close();
  });

  t.test('a server that hangs keeps no reader for long, and not the end', async (t) => {
    const way = await blockableWay(t, await server.database());
    const index = openAt(way.url);
    const access = await createPostgresAccess(index.pool);
    await index.apply({ put: [emptyDocument('a', { body: 'apple' })], isComplete: true });
    const lease = await index.tryBecomeWriter();
    way.block();
    await t.rejects(index.summary(), { name: 'IndexUnavailableError' });
    await t.rejects(access.rows('SELECT 1'), { name: 'AccessUnavailableError' });
    await lease?.dispose();
    await index.close();
  });

  t.test('dropped tables, and those of another version, are created again', async (t) => {
    const url = await server.database();
    const index = openAt(url);
    await index.apply({ put: [emptyDocument('a', { body: 'apple' })], isComplete: true });
    await index.pool.query("UPDATE docs_meta SET value = 'other' WHERE name = 'version'");
    await t.rejects(index.summary(), { name: 'IndexUnavailableError', message: /version/ });
    const newer = openAt(url);
    t.equal((await newer.summary()).documents, 0);
    t.match(
      (await newer.files()).files,
      [{ path: 'a.md', slug: 'a', look: '' }],
      'but it knows which file had which slug',
    );
    await newer.close();
    await index.pool.query(
      'DROP TABLE docs_meta, docs_documents, docs_bodies, docs_scopes, docs_listing, docs_words, docs_postings, docs_files',
    );
    await t.rejects(index.summary(), { name: 'IndexUnavailableError' });
    t.equal((await index.summary()).documents, 0);
    await index.apply({ put: [emptyDocument('a', { body: 'apple' })], isComplete: true });
    const indexId = await index.indexId();
    await index.pool.query('DROP TABLE docs_documents');
    const apply = () => index.apply({ indexId, put: [emptyDocument('a')], isComplete: true });
    await t.rejects(apply(), { name: 'IndexUnavailableError', message: /deleted/ });
    await t.rejects(apply(), { name: 'IndexUnavailableError', message: /being rebuilt/ });
    t.strictSame(await index.summary(), { documents: 0, problems: [], warnings: [], isComplete: false });
    await index.close();
  });

  t.test('tables that are dropped while a library is watched are filled again', async (t) => {
    const content = await temporaryFolder(t, { 'one.md': '# One', 'deep/two.md': '# Two' });
    const index = await open();
    const folder = await openContentFolder(content);
    const indexer = await LibraryIndexer.create({
      folder,
      index,
      slugs: createSlugRecords(),
      now: () => Date.now() + 3_600_000,
    });
    const library = new Library({ folder, indexer, rescan: 3_600, onError: ignore });
    await library.start();
    t.match(await index.summary(), { documents: 2, isComplete: true });
    const filled = new Promise<void>((resolve, reject) => {
      index.onDidChange(() => {
        void index.summary().then(({ isComplete }) => isComplete && resolve(), reject);
      });
    });
    await index.pool.query(
      'DROP TABLE docs_meta, docs_documents, docs_bodies, docs_scopes, docs_listing, docs_words, docs_postings, docs_files',
    );
    // The library may be the first to find out.
    await index.summary().catch((error) => t.match(error, { name: 'IndexUnavailableError' }));
    await index.summary();
    await filled;
    t.match(await index.summary(), { documents: 2, isComplete: true });
    await library.close();
    await index.close();
  });

  t.test('the contract of the access stores', async (t) => {
    const connectionString = await server.database();
    const pools: pg.Pool[] = [];
    t.teardown(() => Promise.all(pools.map((pool) => pool.end())));
    await accessStoresContract(t, async () => {
      const pool = new pg.Pool({ connectionString, max: 4 });
      pools.push(pool);
      return createPostgresAccess(pool);
    });
  });

  t.test('access tables of the first version are migrated, even by two instances at once', async (t) => {
    const other = new pg.Pool({ connectionString: await server.database(), max: 4 });
    const token = createToken({ scopes: ['read'], lifetime: 1_000, now: Date.UTC(2026, 10, 22) });
    const { id, created, expires } = token.grant;
    await other.query(firstTables('docs_tokens', 'bigint'));
    await other.query(
      'CREATE TABLE docs_access (version integer NOT NULL); INSERT INTO docs_access VALUES (1)',
    );
    await other.query(
      'INSERT INTO docs_tokens (hash, id, scopes, created, expires) VALUES ($1, $2, $3, $4, $5)',
      [token.hash, id, 'read', created, expires],
    );
    const opened = await Promise.all([createPostgresAccess(other), createPostgresAccess(other)]);
    for (const database of opened)
      t.same(await createAccessStores(database).tokens.find(token.hash), token.grant);
    await other.end();
  });

  t.test('instances of the program', async (t) => {
    const url = await server.database();
    const database = ['--database', url];
    const input = `${ownerPassword}\n`;
    t.match(await runDocs(['owner', 'set-password', ...database], { input }), { code: 0 });
    const content = await temporaryFolder(t, { 'one.md': '# One' });
    const start = async () => {
      const service = await serveDocs([
        '--content',
        content,
        '--data',
        await temporaryFolder(t),
        ...database,
      ]);
      t.teardown(() => service.stop());
      return service;
    };
    const first = await start();
    await first.whenReady();
    const second = await start();

    t.test('are one authorization server', async (t) => {
      const tokens = await letIn(first, second);
      t.equal((await first.get('/api/v1/docs', tokens.access_token)).status, 200);
      t.equal((await refresh(first, tokens)).status, 200);
      t.equal((await post(second, '/revoke', { token: tokens.access_token })).status, 200);
      await untilDead(first, tokens.access_token);
    });

    t.test('one indexes, and another takes over', async (t) => {
      const created = await runDocs(['token', 'create', ...database, '--data', await temporaryFolder(t)]);
      const token = created.stdout.trim();
      const untilStatus = (path: string, wanted: number) =>
        poll(
          () => second.get(path, token),
          ({ status }) => status === wanted,
        );
      for (const service of [first, second])
        t.equal((await service.get('/api/v1/docs/one', token)).status, 200);

      await writeFiles(content, { 'two.md': '# Two' });
      await untilStatus('/api/v1/docs/two', 200);
      first.child.kill('SIGKILL');
      await once(first.child, 'close');
      await writeFiles(content, { 'three.md': '# Three' });
      await untilStatus('/api/v1/docs/three', 200);

      const list = await runDocs(['token', 'list', ...database]);
      const id = /^[0-9a-f]{12}/m.exec(list.stdout)?.[0] ?? '';
      t.match(await runDocs(['token', 'revoke', id, ...database]), { code: 0 });
      await untilDead(second, token);
      t.match(await runDocs(['backup', 'x.db', ...database]), { code: 1, stderr: /pg_dump/ });

      await server.stop();
      const away = await untilStatus('/api/v1/docs', 503);
      t.match(away.headers.get('retry-after'), /\d/);
      t.equal((await fetch(`${second.origin}/readyz`)).status, 503);
      t.equal((await fetch(`${second.origin}/healthz`)).status, 200, 'the process lives');
      await server.start();
      await second.whenReady();
      t.equal(await second.stop(), 0);
    });
  });
});

interface Question {
  readonly text: string;
  readonly drafts: boolean;
  readonly type?: string;
  readonly tag?: string;
}

/** What must be the same on both engines. */
async function ask(index: WritableIndex, { text, ...filter }: Question) {
  const paging = { ...filter, limit: 100, offset: 0 };
  const search = await index.search({ ...paging, text });
  const hits = search.items.map(({ document, snippet }) => `${document.slug}: ${snippet}`);
  const list = await index.list(paging);
  return {
    search: { ...search, items: hits },
    list: [list.items.map(({ slug }) => slug), list.total],
    summary: (await index.summary()).documents,
  };
}

/** A way to the server that can be blocked for good, as by a network that is lost: nothing is refused or closed. */
async function blockableWay(t: Test, url: string): Promise<{ readonly url: string; block(): void }> {
  const folder = await temporaryFolder(t);
  const host = new URL(url).searchParams.get('host') ?? '';
  const [name, open] = ['.s.PGSQL.5432', new Set<Socket>()];
  const proxy = createServer((near) => {
    const far = connect(join(host, name));
    for (const one of [near, far]) open.add(one.on('error', ignore));
    near.pipe(far).pipe(near);
  });
  proxy.listen(join(folder, name));
  await once(proxy, 'listening');
  t.teardown(() => {
    for (const one of open) one.destroy();
    proxy.close();
  });
  const block = () => {
    proxy.removeAllListeners('connection');
    for (const one of open) one.unpipe();
  };
  return { url: url.replace(host, folder), block };
}
