import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { Marked } from 'marked';
import { createRenderer } from '../../docs-service/formats/renderer.ts';
import { documentOf, epubJob } from '../support/documents.ts';
import { createFigures, timed } from './figures.ts';

const { section, row } = createFigures('docsFormats');

/** Chapters of a book against Marked alone on the same texts, and what the main thread notices of it. */
async function main(): Promise<void> {
  const renderer = createRenderer({
    worker: resolve('dist/docs-service/renderWorker.cjs'),
    workers: 1,
    time: 120_000,
    memory: 512,
    queueLength: 1,
    maxWait: 60_000,
  });
  section('EPUB books in a worker that is warm, against Marked alone on the same texts');
  await renderer.render(bookOf(10));
  for (const chapters of [100, 1000]) {
    const job = bookOf(chapters);
    const { result, time, stall } = await watched(() => renderer.render(job));
    const idle = await watched(() => setTimeout(time));
    const bare = await timed(() => {
      const marked = new Marked();
      for (const { body } of job.documents) marked.parse(body);
    });
    row(
      `${chapters} chapters`,
      `${(time / 1000).toFixed(2)} s, ${Math.round(chapters / (time / 1000))} a second, ${Math.round(result.bytes.length / 1024)} KB; Marked alone ${(bare / 1000).toFixed(2)} s; longest stall of the main thread ${stall.toFixed(0)} ms, ${idle.stall.toFixed(0)} ms while idle as long`,
      {
        goal: chapters === 1000 ? 'within 3 s; at most 50 ms' : 'at most 50 ms',
        plot: { unit: 's', bars: { 'Marked alone': bare / 1000, 'the whole book': time / 1000 } },
      },
    );
  }
  await renderer.close();
}

/** Each chapter is about 2.6 KB of this project's own pages and has a link to the next one. */
function bookOf(chapters: number) {
  const page = readFileSync('docs/ARCHITECTURE.md', 'utf8');
  const documents = Array.from({ length: chapters }, (_, at) => {
    const from = (at * 997) % (page.length - 2600);
    const text = page.slice(page.indexOf('\n', from) + 1, from + 2600);
    return documentOf(`chapter-${at}`, `# Chapter ${at}\n\n[Next](chapter-${at + 1}.md)\n\n${text}`);
  });
  return epubJob(resolve('docs'), documents);
}

/** What work gives, how long it takes, and for how long at most the event loop stood still meanwhile, in ms. */
async function watched<Result>(work: () => Promise<Result>) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const start = performance.now();
  const result = await work();
  const time = performance.now() - start;
  delay.disable();
  return { result, time, stall: delay.max / 1e6 };
}

await main();
