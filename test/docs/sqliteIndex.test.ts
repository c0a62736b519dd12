import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openDatabase } from '../../docs-service/base/sqliteDatabase.ts';
import { createSqliteIndex } from '../../docs-service/search/sqlite/sqliteIndex.ts';
import { documentIndexContract, emptyDocument, found } from '../support/documentIndexContract.ts';
import { needs, places } from '../support/parts.ts';
import { where } from '../support/systems.ts';

const worker = resolve('dist/docs-service/indexWorker.cjs');
const folder = mkdtempSync(join(tmpdir(), 'runner-index-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
let made = 0;
const newFile = () => join(folder, `${made++}.db`);
const ignore = () => undefined;
const openSqlite = (file = newFile(), program = worker, log: (line: string) => void = ignore) =>
  createSqliteIndex(file, program, log);
const isOnNewerNode = Number(process.versions.node.split('.')[0]) >= 24;

t.test('SQLite', async (t) => documentIndexContract(t, async () => openSqlite()));

t.test('the file of SQLite', async (t) => {
  const put = [emptyDocument('a', { body: 'apple' })];

  t.test('is there again after a restart', async (t) => {
    const file = newFile();
    const first = openSqlite(file);
    await first.apply({ put, isComplete: true });
    await first.close();
    await t.rejects(first.summary(), { name: 'IndexUnavailableError' });
    const second = openSqlite(file);
    t.strictSame(await found(second, 'apple'), ['a']);
    await second.close();
  });

  t.test('gives back, once it is whole, the space that building it took', async (t) => {
    const file = newFile();
    const index = openSqlite(file);
    const texts = Array.from({ length: 400 }, (_, at) => `w${at} `.repeat(1_000));
    await index.apply({ put: texts.map((body, at) => emptyDocument(`d${at}`, { body })) });
    await index.apply({ remove: texts.map((_, at) => `d${at}`), isComplete: true });
    await index.close();
    t.ok(statSync(file).size < 400_000, 'of 2.7 MB');
  });

  t.test('is replaced if it is damaged or of another version', async (t) => {
    const damaged = newFile();
    writeFileSync(damaged, 'no database '.repeat(1_000));
    const foreign = newFile();
    const database = await openDatabase(foreign);
    database.exec('CREATE TABLE meta (other); CREATE TABLE documents (slug)');
    database.close();
    for (const file of [damaged, foreign]) {
      const index = openSqlite(file);
      t.strictSame(await index.summary(), { documents: 0, problems: [], warnings: [], isComplete: false });
      await index.apply({ put, isComplete: true });
      t.strictSame(await found(index, 'apple'), ['a']);
      await index.close();
    }
    const older = newFile();
    const index = openSqlite(older);
    await index.apply({ put });
    await index.close();
    const edited = await openDatabase(older);
    edited.exec("UPDATE docs_meta SET value = '1' WHERE name = 'version'");
    edited.close();
    const again = openSqlite(older);
    t.strictSame(
      (await again.files()).files.map(({ slug }) => slug),
      ['a'],
      'slugs stay',
    );
    t.strictSame(await found(again, 'apple'), []);
    await again.close();
  });

  t.test('may be deleted while it is open', where('unlinking'), async (t) => {
    const file = newFile();
    const index = openSqlite(file);
    await index.apply({ put, isComplete: true });
    const { indexId } = await index.files();
    const changed = new Promise<void>((resolve) => index.onDidChange(resolve));
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
    await changed;
    t.equal((await index.summary()).documents, 0);
    t.match(await index.files(), { isComplete: false, files: [] });
    t.not(await index.indexId(), indexId);
    await t.rejects(index.apply({ indexId, isComplete: true }), { name: 'IndexUnavailableError' });
    t.equal((await index.summary()).isComplete, false);
    await index.apply({ put, isComplete: true });
    t.strictSame(await found(index, 'apple'), ['a']);
    await index.close();
  });

  t.test('has all words, wherever building it was interrupted', async (t) => {
    const file = newFile();
    const documents = Array.from({ length: 4_300 }, (_, at) =>
      emptyDocument(`d${at}`, { body: `all w${at}` }),
    );
    let index = openSqlite(file);
    const again = async () => {
      await index.close();
      index = openSqlite(file);
    };
    const piece = (from: number, to: number) => index.apply({ put: documents.slice(from, to) });
    await piece(0, 1_000);
    await again();
    await piece(1_000, 1_500);
    // One that waits, and one that is gone.
    await index.apply({ put: [emptyDocument('d1200', { body: 'other' })], remove: ['d7'] });
    await piece(1_500, 2_000);
    const second = openSqlite(file);
    await second.apply({ put: documents.slice(2_000, 2_100) });
    await second.close();
    await piece(2_100, 2_200);
    await t.rejects(index.apply({ indexId: 'another' }));
    await piece(2_200, 4_200);
    await again();
    await piece(4_200, 4_300);
    await index.apply({ isComplete: true });
    const total = async (text: string) =>
      (await index.search({ text, drafts: false, limit: 1, offset: 0 })).total;
    t.strictSame([await total('all'), await total('other'), await total('w7')], [4_298, 1, 0]);
    for (const at of [0, 999, 1_000, 1_499, 1_999, 2_050, 2_150, 4_095, 4_096, 4_250])
      t.strictSame(await found(index, `w${at}`), [`d${at}`]);
    await index.apply({ remove: ['d4096', 'd4299'], put: [emptyDocument('new', { body: 'all' })] });
    t.equal(await total('all'), 4_297);
    await index.close();
  });

  t.test('reports the changes of another process', async (t) => {
    const file = newFile();
    const [one, other] = [openSqlite(file), openSqlite(file)];
    t.equal((await other.summary()).documents, 0);
    const before = other.generation;
    const changed = new Promise<void>((resolve) => other.onDidChange(resolve));
    await one.apply({ put, isComplete: true });
    t.strictSame(await found(other, 'apple'), ['a'], 'a call sees it at once');
    await changed;
    t.ok(other.generation > before);
    const silent = new Promise<void>((resolve) => other.onDidChange(resolve));
    await one.apply({ remove: ['a'] });
    await silent;
    t.pass('without a call it is seen soon');
    await Promise.all([one.close(), other.close()]);
  });

  t.test('can still be read after a worker has died', async (t) => {
    const fragile = join(folder, 'fragile.cjs');
    writeFileSync(
      fragile,
      `require(${JSON.stringify(worker)});
      require('node:worker_threads').parentPort.on('message', ({ parameters }) => {
        if (parameters[0] === 'die') process.exit(1);
      });`,
    );
    const said: string[] = [];
    const index = openSqlite(newFile(), fragile, (line) => said.push(line));
    await index.apply({ put });
    const during = [index.read('die'), index.read('a')];
    for (const result of await Promise.allSettled(during))
      t.match(result, { status: 'rejected', reason: { name: 'IndexUnavailableError' } });
    t.equal((await index.read('a'))?.body, 'apple');
    t.match(said, [/has died/]);
    await index.close();
  });

  t.test(
    'has every document, even where the thread that analyses them ends and starts again in between',
    async (t) => {
      const hurried = join(folder, 'hurried.cjs');
      // A thread without questions ends at once, so that one often ends when the next is asked.
      writeFileSync(
        hurried,
        `const wait = setTimeout;
      globalThis.setTimeout = (work, time, ...more) => wait(work, time === 5_000 ? 0 : time, ...more);
      require(${JSON.stringify(worker)});`,
      );
      const index = openSqlite(newFile(), hurried);
      const counts = [150, 1_500, 150, 1_500];
      for (const [piece, length] of counts.entries())
        await index.apply({
          put: Array.from({ length }, (_, at) => emptyDocument(`p${piece}-${at}`, { body: 'word' })),
        });
      t.equal((await index.summary()).documents, 3_300);
      await index.close();
    },
  );

  t.test('is an error of each call if it cannot be created', async (t) => {
    const index = openSqlite(join(folder, 'no', 'such', 'folder.db'));
    await t.rejects(index.summary(), { name: 'IndexUnavailableError' });
    await index.close();
  });

  t.test('keeps its order, whatever the order of new slugs', async (t) => {
    const index = openSqlite();
    // Each of them is put before all of those that came before it but the first.
    for (let from = 0; from < 300; from += 3)
      await index.apply({
        put: [0, 1, 2].map((at) => emptyDocument(`m${String(900 - from - at)}`, { body: 'word' })),
      });
    await index.apply({ isComplete: true });
    const wanted = Array.from({ length: 300 }, (_, number) => `m${number + 601}`);
    const paged: string[] = [];
    for (const offset of [0, 100, 200]) paged.push(...(await found(index, '-other', { offset })));
    t.strictSame(paged, wanted);
    t.strictSame((await found(index, 'word')).length, 100);
    await index.close();
  });
});

const onNewerNode = isOnNewerNode ? { skip: 'this is the newer Node' } : needs('node24');
t.test('SQLite of a newer Node', onNewerNode, async (t) => {
  const child = spawn(places.node24, [fileURLToPath(import.meta.url)], {
    // All of its tests run there, whatever is left out here.
    env: { ...process.env, TAP_ONLY: '0', RUNNER_TEST_LEFT_OUT: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed: Buffer[] = [];
  const warned: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => warned.push(chunk));
  const [code] = await once(child, 'close');
  const output = Buffer.concat(printed).toString();
  t.equal(
    code,
    0,
    output
      .split('\n')
      .filter((line) => line.includes('not ok'))
      .join('\n'),
  );
  t.match(output, /^ok \d+ - SQLite/m);
  t.equal(Buffer.concat(warned).toString(), '', 'without a warning');
});

t.test(
  'a new file that another connection is writing to is opened once that connection is done',
  async (t) => {
    const file = newFile();
    const first = await openDatabase(file, { journal: 'delete' });
    first.exec('BEGIN IMMEDIATE');
    const opening = openDatabase(file);
    // Once one that was begun later is open, it has tried.
    (await openDatabase(newFile())).close();
    first.exec('COMMIT');
    const second = await opening;
    const mode = second.prepare<{ journal_mode: string }>('PRAGMA journal_mode').get();
    t.equal(mode?.journal_mode, 'wal');
    first.close();
    second.close();
  },
);
