import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import {
  createRenderer,
  type Renderer,
  RendererBusyError,
  type RendererOptions,
} from '../../docs-service/formats/renderer.ts';
import type { HtmlJob } from '../../docs-service/formats/renderJob.ts';
import { RenditionCache, RenditionMaker } from '../../docs-service/formats/renditionMaker.ts';
import { MarkdownRenditions } from '../../docs-service/formats/renditions.ts';
import { documentOf } from '../support/documents.ts';
import { failsWith } from '../support/failsWith.ts';
import { temporaryFolder, writeFiles } from '../support/temporaryFolder.ts';
import { poll } from '../support/waiting.ts';

const content = resolve('docs');
const small = () => htmlJob('# A\n\n[b](b.md#c) ![p](pictures/pull.svg) ![gone](gone.png)');
/** Takes seconds, so that it is still under way when the test goes on. */
const long = () => htmlJob('- a *b* `c` [d](e)\n'.repeat(300_000));

function htmlJob(body: string): HtmlJob {
  return {
    kind: 'html',
    form: 'page',
    contentFolder: content,
    targets: { 'b.md': '/read/b' },
    root: '',
    document: documentOf('a', body),
  };
}

function rendererFor(t: Test, options: Partial<RendererOptions> = {}) {
  const renderer = createRenderer({
    worker: resolve('dist/docs-service/renderWorker.cjs'),
    workers: 1,
    time: 60_000,
    memory: 512,
    queueLength: 2,
    maxWait: 60_000,
    ...options,
  });
  t.teardown(() => renderer.close());
  return renderer;
}

t.test('a hostile document is refused with a sentence, and the next one is rendered', async (t) => {
  const renderer = rendererFor(t);
  for (const body of [
    '>'.repeat(5000),
    `${'- '.repeat(500)}a`,
    'a_'.repeat(500_000),
    'lorem ipsum '.repeat(800_000),
  ]) {
    await t.rejects(renderer.render(htmlJob(body)), failsWith({ name: 'UnrenderableError', message: /\.$/ }));
    t.ok((await renderer.render(small())).bytes.length > 0);
  }
});

t.test(
  'a job over its processor time or its memory ends with its worker, and the next one is rendered',
  async (t) => {
    const late = rendererFor(t, { time: 500 });
    await t.rejects(
      unlessBusy(() => late.render(long())),
      failsWith({ name: 'UnrenderableError', message: /more than 0\.5 s of processor time\. Split/ }),
    );
    const tight = rendererFor(t, { memory: 80 });
    await t.rejects(
      tight.render(long()),
      failsWith({ name: 'UnrenderableError', message: /more than 80 MB/ }),
    );
    t.ok((await tight.render(small())).bytes.length > 0);
  },
);

/** Asks again where this machine gave the job no time, which is another answer than the one that is tested. */
async function unlessBusy<Value>(ask: () => Promise<Value>, tries = 20): Promise<Value> {
  return ask().catch((error: Error) => {
    if (error.name !== 'RendererBusyError' || tries === 0) throw error;
    return unlessBusy(ask, tries - 1);
  });
}

t.test('a job is limited by what it uses, and on the clock by ten times as much', async (t) => {
  const cases = [
    {
      name: 'it is small, and its thread has no account of its own',
      program: 'for (;;);',
      isRemembered: true,
      want: {
        name: 'UnrenderableError',
        message: /^Rendering took more than 0\.1 s of .* Allow more with --r/,
      },
    },
    {
      name: 'it gets no processor time',
      program: '',
      isRemembered: false,
      want: {
        name: 'RendererBusyError',
        message: /got only 0 s of processor time in 1 s, .* Try again later/,
      },
    },
  ];
  for (const { name, program, isRemembered, want } of cases) {
    const renderer = rendererFor(t, { worker: await workerOf(t, program), time: 100 });
    const renditions = new MarkdownRenditions(new RenditionMaker({ renderer, now: () => 0 }));
    const rendition = await renditions.source(documentOf('a', 'b'));
    const render = () => rendition.render(new AbortController().signal);
    const ask = () => (isRemembered ? unlessBusy(render) : render()).catch((error: unknown) => error);
    const [first, second] = [await ask(), await ask()];
    t.match(first, want, name);
    t.equal(first === second, isRemembered, `${name}: the next caller`);
  }
});

t.test('a full queue refuses, and an abort makes room', async (t) => {
  const renderer = rendererFor(t, { queueLength: 1, maxWait: 60_000 });
  const leaving = new AbortController();
  const outcome = t.rejects(renderer.render(long(), leaving.signal), failsWith({ name: 'AbortError' }));
  const queued = renderer.render(small());
  await t.rejects(renderer.render(small()), RendererBusyError);
  leaving.abort();
  await outcome;
  t.ok((await queued).bytes.length > 0);
  await t.rejects(renderer.render(small(), AbortSignal.abort()), failsWith({ name: 'AbortError' }));
});

t.test('closing ends what runs and what waits', async (t) => {
  const renderer = rendererFor(t);
  const outcomes = [long(), small()].map((job) =>
    t.rejects(renderer.render(job), failsWith({ message: 'The service is shutting down.' })),
  );
  await renderer.close();
  await Promise.all(outcomes);
  await t.rejects(renderer.render(small()), failsWith({ message: 'The service is shutting down.' }));
});

t.test('a worker without a job ends, and the next job gets a new one', async (t) => {
  const folder = t.testdir({
    'worker.cjs': `
      const { parentPort, threadId } = require('node:worker_threads');
      parentPort.on('message', () => parentPort.postMessage({ rendered: { threadId } }));`,
  });
  const threadOf = async (renderer: Renderer) =>
    (await renderer.render(small())) as unknown as { readonly threadId: number };
  const worker = join(folder, 'worker.cjs');
  const kept = rendererFor(t, { worker });
  t.strictSame(await threadOf(kept), await threadOf(kept), 'the next job comes at once');
  const idle = rendererFor(t, { worker, maxIdle: 1 });
  const first = await threadOf(idle);
  const next = await poll(
    () => threadOf(idle),
    ({ threadId }) => threadId !== first.threadId,
  );
  t.not(next.threadId, first.threadId);
});

t.test('a worker that cannot start is an error of the service, not of the document', async (t) => {
  const renderer = rendererFor(t, { worker: resolve('dist/none.cjs') });
  await t.rejects(renderer.render(small()), failsWith({ code: 'MODULE_NOT_FOUND' }));
});

/** A worker of another program, for what ours does not do. */
async function workerOf(t: Test, program: string): Promise<string> {
  const folder = await temporaryFolder(t, {
    'worker.cjs': `require('node:worker_threads').parentPort.on('message', (job) => { ${program} });`,
  });
  return join(folder, 'worker.cjs');
}

t.test('what a worker does not do as it should is an error of its job alone', async (t) => {
  const answering = await workerOf(
    t,
    "require('node:worker_threads').parentPort.postMessage({ failure: { name: 'TypeError', message: 'no' } });",
  );
  const cases: readonly { name: string; worker: string; job?: object; want: Record<string, unknown> }[] = [
    {
      name: 'it ends',
      worker: await workerOf(t, 'process.exit(3);'),
      want: { name: 'Error', message: 'The render worker ended with code 3.' },
    },
    { name: 'it fails', worker: answering, want: { name: 'TypeError', message: 'no' } },
    {
      name: 'its job cannot be sent',
      worker: answering,
      job: { ...small(), kind: () => 'html' },
      want: { name: 'DataCloneError' },
    },
  ];
  for (const { name, worker, job = small(), want } of cases) {
    const renderer = rendererFor(t, { worker });
    for (const _again of [1, 2])
      await t.rejects(renderer.render(job as HtmlJob), failsWith(want), `${name}, and the next one too`);
  }
});

t.test('a job that waits too long for a worker is refused, and makes room', async (t) => {
  const worker = await workerOf(t, '');
  const renderer = rendererFor(t, { worker, queueLength: 1, maxWait: 20 });
  const running = t.rejects(renderer.render(small()), { message: /shutting down/ });
  const busy = { name: 'RendererBusyError', message: /^Too many documents are being rendered/ };
  for (const _again of [1, 2]) await t.rejects(renderer.render(small()), failsWith(busy));
  await renderer.close();
  await running;
  await t.rejects(renderer.render(small()), failsWith({ message: 'The service is shutting down.' }));
});

t.test('what is no rendition is removed, and what cannot be written is reported', async (t) => {
  const folder = join(await temporaryFolder(t), 'renditions');
  const rendition = 'a'.repeat(64);
  await writeFiles(folder, {
    [rendition]: 'one',
    [`${rendition}.part`]: 'half',
    [`${rendition}b`]: 'other',
    'folder/file': 'x',
  });
  const errors: Error[] = [];
  const cache = await RenditionCache.open(folder, 10, (error) => errors.push(error));
  t.strictSame(readdirSync(folder), [rendition]);
  await cache.put('more', Buffer.alloc(11));
  t.equal(cache.sizeOf('more'), undefined, 'more than all may have');
  await cache.put('most', Buffer.alloc(10));
  t.equal(cache.sizeOf('most'), 10);
  t.equal(readdirSync(folder).length, 1, 'it took all the room');
  const [name = ''] = readdirSync(folder);
  for (const { ago, isNoted } of [
    { ago: 30, isNoted: false },
    { ago: 120, isNoted: true },
  ]) {
    const before = Date.now() / 1_000 - ago;
    utimesSync(join(folder, name), before, before);
    await cache.get('most');
    t.equal(statSync(join(folder, name)).mtimeMs / 1_000 - before > 1, isNoted, `used ${ago} seconds ago`);
  }
  await cache.put('next', Buffer.alloc(1));
  t.equal(cache.sizeOf('most'), undefined);
  const [next = ''] = readdirSync(folder);
  await writeFiles(folder, { [next]: 'longer' });
  t.equal(await cache.get('next'), undefined, 'it is not what was kept');
  await rm(folder, { recursive: true });
  await writeFiles(folder, { '../renditions': 'a file' });
  await cache.put('next', Buffer.alloc(1));
  t.equal(errors.length, 1);
  t.equal(cache.sizeOf('next'), undefined);
});

t.test('the folder of renditions may be deleted while it is used', async (t) => {
  const folder = join(await temporaryFolder(t), 'renditions');
  const errors: Error[] = [];
  const cache = await RenditionCache.open(folder, 100, (error) => errors.push(error));
  await cache.put('a', Buffer.from('one'));
  await rm(folder, { recursive: true });
  t.equal(await cache.get('a'), undefined);
  await cache.put('a', Buffer.from('one'));
  t.equal(String(await cache.get('a')), 'one');
  t.strictSame(errors, []);
});

t.test('after a restart, the rendition that was used least recently makes room first', async (t) => {
  const texts = ['one', 'two', 'six'];
  const open = (folder: string) => RenditionCache.open(folder, 9, (error) => t.fail(error.message));
  for (const oldest of texts) {
    const folder = join(await temporaryFolder(t), 'renditions');
    const before = await open(folder);
    for (const text of texts) await before.put(text, Buffer.from(text));
    for (const name of readdirSync(folder)) {
      const seconds = readFileSync(join(folder, name), 'utf8') === oldest ? 1 : 2;
      utimesSync(join(folder, name), seconds, seconds);
    }
    const after = await open(folder);
    await after.put('new', Buffer.from('new'));
    t.same(
      texts.filter((text) => after.sizeOf(text) === undefined),
      [oldest],
    );
  }
});

t.test('a rendition that is written or deleted at the same time', async (t) => {
  const folder = join(await temporaryFolder(t), 'renditions');
  const errors: Error[] = [];
  const cache = await RenditionCache.open(folder, 10, (error) => errors.push(error));
  const both = [cache.put('a', Buffer.from('one')), cache.put('a', Buffer.from('one'))];
  await both[1];
  t.equal(String(await cache.get('a')), 'one', 'whoever has kept it finds it');
  await both[0];
  const file = await cache.open('a');
  await cache.put('b', Buffer.from('12345678'));
  t.equal(cache.sizeOf('a'), undefined, 'the least recently used made room');
  t.equal(cache.sizeOf('b'), 8);
  t.equal(String(await file?.readFile()), 'one', 'but whoever has it open reads it to its end');
  await file?.close();
  t.strictSame(errors, []);
});
