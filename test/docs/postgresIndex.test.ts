import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { openContentFolder } from '../../docs-service/content/contentFolder.ts';
import { Library } from '../../docs-service/library/library.ts';
import { LibraryIndexer } from '../../docs-service/library/libraryIndexer.ts';
import { createPostgresIndex } from '../../docs-service/search/postgres/postgresIndex.ts';
import { createSqliteIndex } from '../../docs-service/search/sqlite/sqliteIndex.ts';
import { createSlugRecords } from '../support/docsLibrary.ts';
import {
  documentIndexContract,
  documentOf,
  found,
  type WritableIndex,
} from '../support/documentIndexContract.ts';
import { needs } from '../support/parts.ts';
import { startPostgres, tryFindPostgres } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

const bin = tryFindPostgres();
const ignore = () => undefined;

// A server is started and stopped, on a machine that may be busy.
t.setTimeout(180_000);

t.test('PostgreSQL', needs('postgres'), async (t) => {
  if (!bin) throw new Error('PostgreSQL is not installed.');
  const server = startPostgres(bin);
  t.teardown(() => server.remove());
  let made = 0;
  const newDatabase = () => server.database(`index-${made++}`);
  const open = (url = newDatabase()) => createPostgresIndex({ url, log: ignore });

  t.test('the contract', async (t) => documentIndexContract(t, async () => open()));

  t.test('both engines find the same', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'runner-index-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const worker = resolve('dist/docs-service/indexWorker.cjs');
    const sqlite = createSqliteIndex({ file: join(folder, 'index.db'), worker, log: ignore });
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
    const engines: readonly WritableIndex[] = [sqlite, open()];
    let answers = 0;
    await fc.assert(
      fc.asyncProperty(
        changes,
        fc.array(asked, { minLength: 3, maxLength: 6 }),
        async ({ put, remove }, questions) => {
          const documents = put.map(([slug, document]) => documentOf(slug, document));
          for (const index of engines) await index.apply({ put: documents, remove });
          for (const { filter, ...question } of questions) {
            const [one, other] = await Promise.all(
              engines.map((index) => ask(index, { ...question, ...filter })),
            );
            t.strictSame(one, other, JSON.stringify(question));
            answers += one?.search.total ?? 0;
          }
        },
      ),
      { numRuns: 100 },
    );
    t.ok(answers > 100, `${answers} documents were found`);
    for (const index of engines) await index.close();
  });

  t.test('an address with a password is refused', async (t) => {
    for (const url of ['postgres://me:secret@host/db', 'postgres:///db?password=secret'])
      t.throws(() => createPostgresIndex({ url, log: ignore }), /PGPASSFILE/);
    for (const url of ['mysql://host/db', 'nonsense', '/tmp'])
      t.throws(() => createPostgresIndex({ url, log: ignore }), /postgres:\/\/host\/name/);
  });

  t.test('several instances share it', async (t) => {
    const url = newDatabase();
    const instances = [open(url), open(url), open(url)];
    await Promise.all(instances.map((index) => index.summary()));
    const [one, other] = instances;
    if (!one || !other) throw new Error('There are three.');
    const changed = new Promise<void>((resolve) => other.onDidChange(resolve));
    await one.apply({ put: [documentOf('a', { body: 'apple' })] });
    await changed;
    t.strictSame(await found(other, 'apple'), ['a']);
    await Promise.all(instances.map((index) => index.close()));
  });

  t.test('one instance indexes, and another takes over', async (t) => {
    const url = newDatabase();
    const [one, other] = [open(url), open(url)];
    const lease = await one.tryBecomeWriter();
    t.ok(lease);
    t.equal(await other.tryBecomeWriter(), undefined);
    await lease?.dispose();
    const next = await other.tryBecomeWriter();
    t.ok(next);
    const lost = once(next?.lost ?? new EventTarget(), 'abort');
    server.stop();
    await lost;
    server.start();
    await Promise.all([one.close(), other.close()]);
  });

  t.test('while it is away calls fail, and later they work again', async (t) => {
    const index = open();
    await index.apply({ put: [documentOf('a', { body: 'apple' })] });
    server.stop();
    await t.rejects(index.summary(), { name: 'IndexUnavailableError' });
    await t.rejects(found(index, 'apple'), { name: 'IndexUnavailableError' });
    await t.rejects(index.tryBecomeWriter(), { name: 'IndexUnavailableError' });
    await t.rejects(index.apply({ remove: ['a'] }), { name: 'IndexUnavailableError' });
    const changed = new Promise<void>((resolve) => index.onDidChange(resolve));
    server.start();
    t.strictSame(await found(index, 'apple'), ['a']);
    await index.apply({ put: [documentOf('b', { body: 'apple' })] });
    await changed;
    t.equal((await found(index, 'apple')).length, 2);
    await index.close();
  });

  t.test('tables that somebody dropped, or of another version, are made anew', async (t) => {
    const url = newDatabase();
    const index = open(url);
    await index.apply({ put: [documentOf('a', { body: 'apple' })] });
    await index.pool.query("UPDATE docs_meta SET value = 'other' WHERE name = 'version'");
    await t.rejects(index.summary(), { name: 'IndexUnavailableError', message: /version/ });
    const newer = open(url);
    t.equal((await newer.summary()).documents, 0);
    t.match(
      (await newer.files()).files,
      [{ path: 'a.md', slug: 'a', namesSlug: false, size: -1 }],
      'but it knows which file had which slug',
    );
    await newer.close();
    await index.pool.query(
      'DROP TABLE docs_meta, docs_documents, docs_scopes, docs_listing, docs_sample, docs_files',
    );
    await t.rejects(index.summary(), { name: 'IndexUnavailableError' });
    t.equal((await index.summary()).documents, 0);
    await index.apply({ put: [documentOf('a', { body: 'apple' })], isComplete: true });
    const indexId = await index.indexId();
    await index.pool.query('DROP TABLE docs_documents');
    const apply = () => index.apply({ indexId, put: [documentOf('a')], isComplete: true });
    await t.rejects(apply(), { name: 'IndexUnavailableError', message: /deleted/ });
    await t.rejects(apply(), { name: 'IndexUnavailableError', message: /being rebuilt/ });
    t.strictSame(await index.summary(), { documents: 0, problems: [], warnings: [], isComplete: false });
    await index.close();
  });

  t.test('tables that somebody drops while a library is followed are filled again', async (t) => {
    const content = await temporaryFolder(t, { 'one.md': '# One', 'deep/two.md': '# Two' });
    const index = open();
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
      'DROP TABLE docs_meta, docs_documents, docs_scopes, docs_listing, docs_sample, docs_files',
    );
    await t.rejects(index.summary(), { name: 'IndexUnavailableError' });
    await index.summary();
    await filled;
    t.match(await index.summary(), { documents: 2, isComplete: true });
    await library.close();
    await index.close();
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
